"""Muntin: many window aggregates over one event stream, evaluated together.

>>> import muntin as mt
>>> mt.plan([mt.tumbling(20), mt.tumbling(30), mt.tumbling(40)], mt.min("v")).cost
150
"""

import logging
from typing import TYPE_CHECKING, Any

from muntin.aggregates import Aggregate
from muntin.aggregates.functions import (
    approx_count_distinct,
    approx_quantile,
    avg,
    bool_and,
    bool_or,
    corr,
    count,
    count_distinct,
    count_if,
    covar_pop,
    covar_samp,
    first,
    last,
    max,
    max_by,
    mean,
    median,
    min,
    min_by,
    mode,
    percentile,
    std,
    stddev,
    stddev_pop,
    sum,
    user_defined,
    var_pop,
    variance,
)
from muntin.errors import InternalError, MuntinError, MuntinWarning, QueryError, UnsupportedError
from muntin.plan import Plan, plan
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.rolling import RollingPlan
from muntin.plan.physical.stream import StreamPlan
from muntin.plan.sharing import SharingPlan
from muntin.plan.slicing.weave import Weave, weave
from muntin.plan.statistics import Statistics
from muntin.plan.subsumption import Subsumption, subsume
from muntin.query import Query, QuerySet
from muntin.registry import WindowRegistry
from muntin.version import __version__
from muntin.window import (
    Window,
    cumulating,
    delta,
    hopping,
    landmark,
    punctuated,
    rows,
    session_window,
    snapshot,
    tumbling,
    until,
    user_window,
    while_,
)

if TYPE_CHECKING:
    from muntin.spark import (
        DeltaLog,
        Kept,
        Listening,
        Progress,
        Results,
        UpsertTable,
        aggregate,
        distinct,
        evaluate,
        explain,
        explain_rolling,
        explain_sql,
        join,
        listen,
        progress,
        rolling,
        session,
        split_late,
        sql,
        state,
    )

__all__ = [
    "Aggregate",
    "DeltaLog",
    "InternalError",
    "Kept",
    "Listening",
    "MuntinError",
    "MuntinWarning",
    "PhysicalPlan",
    "Plan",
    "Progress",
    "Query",
    "QueryError",
    "QuerySet",
    "Results",
    "RollingPlan",
    "SharingPlan",
    "Statistics",
    "StreamPlan",
    "Subsumption",
    "UnsupportedError",
    "UpsertTable",
    "Weave",
    "Window",
    "WindowRegistry",
    "__version__",
    "aggregate",
    "approx_count_distinct",
    "approx_quantile",
    "avg",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "count_distinct",
    "count_if",
    "covar_pop",
    "covar_samp",
    "cumulating",
    "delta",
    "distinct",
    "evaluate",
    "explain",
    "explain_rolling",
    "explain_sql",
    "first",
    "hopping",
    "join",
    "landmark",
    "last",
    "listen",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile",
    "plan",
    "progress",
    "punctuated",
    "rolling",
    "rows",
    "session",
    "session_window",
    "snapshot",
    "split_late",
    "sql",
    "state",
    "std",
    "stddev",
    "stddev_pop",
    "subsume",
    "sum",
    "tumbling",
    "until",
    "user_defined",
    "user_window",
    "var_pop",
    "variance",
    "weave",
    "while_",
]

_SPARK = (
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
)

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Load Spark when a name that needs it is first used; say what to write for a name that is not here."""
    if name in _SPARK:
        import muntin.spark

        return getattr(muntin.spark, name)
    if name.startswith("_"):
        raise AttributeError(f"module 'muntin' has no attribute {name!r}.")
    from muntin.hints import hint

    raise AttributeError(f"module 'muntin' has no attribute {name!r}.{hint(name, __all__)}")


def __dir__() -> list[str]:
    """List the names that load Spark, too."""
    return sorted({*globals(), *__all__})
