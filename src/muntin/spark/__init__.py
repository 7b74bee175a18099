"""Everything that imports PySpark: mt.aggregate, mt.explain, mt.rolling, mt.session."""

from muntin.spark.over import rolling
from muntin.spark.run import aggregate, explain
from muntin.spark.sessions import session

__all__ = ["aggregate", "explain", "rolling", "session"]
