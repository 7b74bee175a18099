"""Everything that imports PySpark: mt.aggregate, mt.explain, mt.progress, mt.rolling, mt.session."""

from muntin.spark.rolling_windows import rolling
from muntin.spark.run import aggregate, explain
from muntin.spark.sessions import session
from muntin.spark.stream_progress import Progress, progress

__all__ = ["Progress", "aggregate", "explain", "progress", "rolling", "session"]
