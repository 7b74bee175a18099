"""The benchmark of joins: what it calls plain Spark gives the pairs that mt.join gives, and its page is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from muntin_bench.experiments.join import Case, asked, by_hand, cases, inputs, plain
from muntin_bench.report.join import join_section


@pytest.mark.long
def test_plain_spark_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    for case in (cases(4000)[1], replace(cases(4000)[-1], within=("10 minutes", "1 hour", "1 day"))):
        left, right = inputs(spark, tmp_path, case)
        ours, theirs = told(asked(left, right, case), case), told(plain(left, right, case), case)
        assert theirs == told(by_hand(left, right, case), case)
        assert theirs["30 days" if "30 days" in theirs else "1 day"] == sum(ours.values())
        for place, text in enumerate(case.within):  # plain Spark gives a pair for every range that holds it
            assert theirs[text] == sum(ours[shorter] for shorter in case.within[: place + 1])


def told(pairs: DataFrame, case: Case) -> Counter[str]:
    """Count the pairs of every range, by the text that asks for it."""
    labels = {"10m": "10 minutes", "1h": "1 hour", "1d": "1 day", "30d": "30 days"}
    counts = {row["within"]: row["count"] for row in pairs.groupBy("within").count().collect()}
    return Counter({labels.get(label, label): count for label, count in counts.items()})


def test_the_section_says_what_was_reached() -> None:
    told = {"case": "a", "left": 1000, "right": 10, "users": 5, "within": ["1 hour"], "direction": "both"}
    batch = {"part": "batch", **told, "pairs": 7, "seconds": {"by_hand": 3.0, "muntin": 1.0}}
    state = {"seconds": 1.0, "state_rows": 10, "state_bytes": 1}
    stream = {"part": "stream", **told, "states": {"plain": state | {"state_rows": 20}, "muntin": state}}
    text = join_section({"rows": [batch, stream]})
    assert "| a | 1,000 and 10 | 5 | 1 hour | 7 | – | 3.00 | 1.00 | 3.00 |" in text
    assert "mt.join is 3.0 to 3.0 times as fast as the better of Spark's plans." in text
    assert "| a | 1 hour | 20 | 10 | 0.50 |" in text
