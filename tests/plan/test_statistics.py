"""Statistics that users give: what is read, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import muntin as mt

DAY = 86_400_000_000


@pytest.mark.parametrize("span", ["1 day", "24h", "P1D", timedelta(days=1), DAY, float(DAY), np.int64(DAY)])
def test_spans_in_every_form(span: Any) -> None:
    assert mt.Statistics(rows=1, span=span) == mt.Statistics(1)
    assert mt.Statistics(rows=1, span=span).span == DAY


@pytest.mark.parametrize("rows", [1_000_000, 1e6, np.int64(10**6), np.float64(1e6)])
def test_whole_numbers_are_ints(rows: Any) -> None:
    statistics = mt.Statistics(rows, keys=rows)
    assert (statistics.rows, statistics.keys) == (1_000_000, 1_000_000)
    assert type(statistics.rows) is type(statistics.keys) is int
    assert replace(statistics, keys=2) == mt.Statistics(10**6, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rows": -1}, "rows=-1 is not a count. Use a whole number from 0 on."),
        ({"rows": 1.5}, "rows=1.5 is not a count"),
        ({"rows": "1000"}, "rows='1000' is not a count"),
        ({"rows": True}, "rows=True is not a count"),
        ({"rows": float("nan")}, "rows=nan is not a count"),
        ({"rows": float("inf")}, "rows=inf is not a count"),
        ({"rows": None}, "rows=None is not a count"),
        ({"rows": {"rows": 5}}, "is not a count"),
        ({"keys": 0}, "keys=0 is not a count. Use a whole number from 1 on."),
        ({"keys": -3}, "keys=-3 is not a count"),
        ({"keys": False}, "keys=False is not a count"),
        ({"keys": ["a", "b"]}, "keys=['a', 'b'] is not a count"),
        ({"span": -1}, "span=-1 is not a length of time. Use a duration such as '1 day', or microseconds."),
        ({"span": "-1 day"}, "span='-1 day' is not a length of time"),
        ({"span": timedelta(-1)}, "is not a length of time"),
        ({"span": 0.5}, "span=0.5 is not a length of time"),
        ({"span": float("nan")}, "span=nan is not a length of time"),
        ({"span": True}, "span=True is not a length of time"),
        ({"span": None}, "span=None is not a length of time"),
        ({"span": "a day"}, "cannot read 'a day' as a duration"),
        ({"span": "1 month"}, "has no fixed length"),
        ({"batch": 0}, "batch=0 is not a count. Use a whole number from 1 on."),
        ({"batch": "all"}, "batch='all' is not a count"),
        ({"ordered": "yes"}, "ordered='yes' is neither True nor False"),
    ],
)
def test_what_is_no_figure(given: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.QueryError) as refused:
        mt.Statistics(**({"rows": 10} | given))
    assert message in str(refused.value)
