"""Everything that imports PySpark: mt.aggregate, mt.explain, mt.progress, mt.rolling, mt.session."""

from muntin.spark.over import rolling
from muntin.spark.reports import Progress, progress
from muntin.spark.run import aggregate, explain
from muntin.spark.sessions import session

__all__ = ["Progress", "aggregate", "explain", "progress", "rolling", "session"]
