"""Aggregates: the model, the built-in functions, and what they mean in plain Python."""

from muntin.aggregates.model import Aggregate, Function, Merge, Partial, Reading

__all__ = ["Aggregate", "Function", "Merge", "Partial", "Reading"]
