"""What the streaming benchmark makes of the reports of its queries."""

from typing import Any

import pytest

from muntin_bench.experiments import stream
from muntin_bench.record import record
from muntin_bench.report.stream import NAMES, stream_section

SETTING = stream.Setting("two", stream.tumbling(2), 1000, 100, 10)


def report(milliseconds: int, *states: tuple[int, int]) -> dict[str, Any]:
    operators = [{"numRowsTotal": rows, "memoryUsedBytes": size} for rows, size in states]
    return {"durationMs": {"triggerExecution": milliseconds}, "numInputRows": 5, "stateOperators": operators}


def test_state_is_the_sum_over_all_queries_each_at_its_most() -> None:
    large = [report(1, (100, 1000)), report(1, (700, 9000)), report(1, (300, 3000))]
    small = [report(1, (20, 400)), report(1, (10, 500))]
    measured = stream._measured(SETTING, 2.0, 1, [large, small])
    assert (measured["state_rows"], measured["state_bytes"]) == (720, 9500)


@pytest.mark.parametrize(
    ("reports", "wanted"), [([[report(1, (5, 50), (7, 70)), report(1, (9, 1), (1, 1))]], (12, 120))]
)
def test_state_of_one_query_is_that_of_its_operators_together(reports: list[Any], wanted: tuple[int, int]) -> None:
    measured = stream._measured(SETTING, 2.0, 1, reports)
    assert (measured["state_rows"], measured["state_bytes"]) == wanted


def test_the_report_says_whose_state_it_counts() -> None:
    contenders = {name: stream._measured(SETTING, 2.0, 1, [[report(3, (1234, 1))]] * 2) for name in NAMES}
    row = {"setting": "two", "windows": 2, "contenders": contenders}
    text = stream_section(record("stream", "muntin bench stream", [row]))
    assert "Where each window has its own query, this is the sum over the queries" in text
    assert "2,468" in text
