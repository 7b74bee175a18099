"""Batch plans: one module for each way to evaluate a group of windows."""
