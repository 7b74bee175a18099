"""What the report makes of exact distinct counts over a stream."""

from typing import Any

from muntin_bench.experiments.distinct_stream import CONTENDERS
from muntin_bench.record import record
from muntin_bench.report.distinct_stream import distinct_stream_section


def run(per_second: int, state: int) -> dict[str, Any]:
    numbers = {"seconds": 1.0, "batch_ms": 100_000 // per_second, "state_rows": 12, "checkpoint_bytes": 10**6}
    return numbers | {"events_per_second": per_second, "state_bytes": state}


def test_the_report_compares_with_plain_spark_and_with_our_best_before() -> None:
    speeds = dict(zip(CONTENDERS, (100, 150, 200, 1000), strict=True))
    contenders = {name: run(speed, 10**9 // speed) for name, speed in speeds.items()}
    row = {"events": 500_000, "users": 1000, "countries": 5, "days": 45, "contenders": contenders, "shape": "distinct"}
    text = distinct_stream_section(record("distinct-stream", "muntin bench distinct-stream", [row]))
    assert "| 1,000 users | 10.0 | 10.0 | 10.0 | 5.0 | 5.0 | 5.0 | chain | distinct |" in text
    assert "| 1,000 users | plain Spark | 100 | 1,000 | 12 | 10.00 | 1.0 |" in text
