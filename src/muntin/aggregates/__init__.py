"""Aggregates: the model, the built-in functions, and what they mean in plain Python."""

from muntin.aggregates.model import Aggregate, Expression, Function, Merge, Partial, is_column
from muntin.aggregates.writing import written

__all__ = ["Aggregate", "Expression", "Function", "Merge", "Partial", "is_column", "written"]
