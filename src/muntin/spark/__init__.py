"""Everything that imports PySpark: mt.aggregate, mt.explain, mt.rolling, mt.session, and what belongs to streams."""

from muntin.spark.kept_state import Kept, state
from muntin.spark.rolling_windows import explain_rolling, rolling
from muntin.spark.run import aggregate, explain
from muntin.spark.sessions import session
from muntin.spark.stream_progress import Progress, progress
from muntin.spark.upserts import UpsertTable

__all__ = [
    "Kept",
    "Progress",
    "UpsertTable",
    "aggregate",
    "explain",
    "explain_rolling",
    "progress",
    "rolling",
    "session",
    "state",
]
