"""Everything that imports PySpark: mt.aggregate, mt.distinct, mt.rolling, mt.session, and what belongs to streams."""

from muntin.spark.items import distinct
from muntin.spark.rolling_windows.run import explain_rolling, rolling
from muntin.spark.run import aggregate, explain
from muntin.spark.sessions import session
from muntin.spark.stream.kept_state import Kept, state
from muntin.spark.stream.progress import Progress, progress
from muntin.spark.stream.upserts import UpsertTable

__all__ = [
    "Kept",
    "Progress",
    "UpsertTable",
    "aggregate",
    "distinct",
    "explain",
    "explain_rolling",
    "progress",
    "rolling",
    "session",
    "state",
]
