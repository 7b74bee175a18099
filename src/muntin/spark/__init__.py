"""Everything that imports PySpark: mt.aggregate, mt.explain, mt.session."""

from muntin.spark.aggregate import aggregate, explain
from muntin.spark.session import session

__all__ = ["aggregate", "explain", "session"]
