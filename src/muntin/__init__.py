"""Muntin: many window aggregates over one event stream, evaluated together.

>>> import muntin as mt
>>> mt.plan([mt.tumbling(20), mt.tumbling(30), mt.tumbling(40)], mt.min("v")).cost
150
"""

from muntin.aggregate import Aggregate
from muntin.errors import InternalError, MuntinError, QueryError, UnsupportedError
from muntin.functions import (
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
    median,
    min,
    min_by,
    mode,
    percentile,
    stddev,
    stddev_pop,
    sum,
    user_defined,
    var_pop,
    variance,
)
from muntin.plan import Plan, plan
from muntin.query import Query, QuerySet
from muntin.version import __version__
from muntin.window import Window, hopping, tumbling

__all__ = [
    "Aggregate",
    "InternalError",
    "MuntinError",
    "Plan",
    "Query",
    "QueryError",
    "QuerySet",
    "UnsupportedError",
    "Window",
    "__version__",
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
    "first",
    "hopping",
    "last",
    "max",
    "max_by",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile",
    "plan",
    "stddev",
    "stddev_pop",
    "sum",
    "tumbling",
    "user_defined",
    "var_pop",
    "variance",
]
