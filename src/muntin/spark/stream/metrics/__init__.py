"""Metrics of running queries: a listener that counts, Prometheus text, an endpoint, and what is logged."""
