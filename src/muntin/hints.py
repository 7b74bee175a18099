"""What to write instead of names that other libraries have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_DISTINCT = "mt.count_distinct(column)"
_SKETCH = (
    "mt.approx_count_distinct(column, lg_k=12), a sketch that windows can share, or exactly mt.count_distinct(column)"
)
_QUANTILE = "mt.percentile(column, 0.95), or mt.approx_quantile(column, 0.95), a sketch that windows can share"
_FIRST = "mt.first(column), the value at the earliest event time; Spark's own goes by the order of rows"
_LAST = "mt.last(column), the value at the latest event time; Spark's own goes by the order of rows"
_OWN = "mt.user_defined(name, column, lift=…, combine=…, lower=…), or plain Spark"
_WINDOW = "mt.tumbling('1 hour'), or mt.hopping('1 hour', '5 minutes')"

_INSTEAD = {
    "mt.avg(column)": "average",
    "mt.stddev(column)": "stddev_samp",
    "mt.variance(column)": "var var_samp",
    "mt.bool_and(column)": "every all",
    "mt.bool_or(column)": "some any",
    "mt.min_by(column, order)": "arg_min argmin min_by",
    "mt.max_by(column, order)": "arg_max argmax max_by",
    "mt.mode(column), any of the most frequent values": "mode",
    "mt.percentile(column, fraction), once for every fraction": "percentile",
    "mt.count()": "size",
    "mt.count_if(condition)": "countIf",
    _DISTINCT: "countDistinct nunique n_unique",
    _SKETCH: "approx_count_distinct approxCountDistinct hll_sketch_agg",
    _QUANTILE: "quantile quantiles percentile_approx approx_percentile",
    _FIRST: "first first_value any_value",
    _LAST: "last last_value",
    _OWN: "udf collect_list collect_set array_agg listagg string_agg product skewness kurtosis sum_distinct",
    _WINDOW: "sliding",
    "mt.aggregate(df, time, by, windows, aggregates)": "agg groupBy groupby group_by",
    "mt.rolling(df, time, by, ranges, aggregates)": "over",
}
INSTEAD = {name: call for call, names in _INSTEAD.items() for name in names.split()}
"""The call to use, by the names that people may try."""
_COMPARED = 100
"""How many characters of a name are compared with others: what that costs grows with the square."""


def hint(name: str, known: Iterable[str]) -> str:
    """Say what to write instead of a name; nothing if there is nothing like it.

    >>> hint("countDistinct", []), hint("tumbing", ["tumbling", "hopping"]), hint("xyzzy", ["sum"])
    (' Use mt.count_distinct(column).', ' Did you mean mt.tumbling?', '')
    """
    if name in INSTEAD:
        return f" Use {INSTEAD[name]}."
    near = get_close_matches(name[:_COMPARED], known, n=1)
    return f" Did you mean mt.{near[0]}?" if near else ""


def meant(name: str, known: Iterable[str]) -> str:
    """Ask whether a known name was meant; nothing if none is like it.

    >>> meant("hourl", ["hourly", "daily"]), meant("xyzzy", ["hourly"])
    (" Did you mean 'hourly'?", '')
    """
    near = get_close_matches(name[:_COMPARED], (one for one in known if len(one) <= 2 * _COMPARED), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
