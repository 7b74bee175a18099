"""Everything that imports PySpark: mt.aggregate, mt.evaluate, mt.join and the others, and parts of streams."""

from muntin.spark.delta_log import DeltaLog
from muntin.spark.explaining import explain
from muntin.spark.items import distinct
from muntin.spark.joins.run import join
from muntin.spark.queries.results import Results
from muntin.spark.queries.run import evaluate
from muntin.spark.rolling_windows.run import explain_rolling, rolling
from muntin.spark.run import aggregate
from muntin.spark.sessions import session
from muntin.spark.statements.run import explain_sql, sql
from muntin.spark.stream.kept_state import Kept, state
from muntin.spark.stream.late_rows import split_late
from muntin.spark.stream.metrics.listening import Listening, listen
from muntin.spark.stream.progress import Progress, progress
from muntin.spark.stream.upserts import UpsertTable

__all__ = [
    "DeltaLog",
    "Kept",
    "Listening",
    "Progress",
    "Results",
    "UpsertTable",
    "aggregate",
    "distinct",
    "evaluate",
    "explain",
    "explain_rolling",
    "explain_sql",
    "join",
    "listen",
    "progress",
    "rolling",
    "session",
    "split_late",
    "sql",
    "state",
]
