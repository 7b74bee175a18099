"""Muntin in threads: what the rest of the program prints stays where it belongs."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

WINDOWS = [mt.tumbling("1 min"), mt.hopping("10 min", "1 min")]
CALLS = 3


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Give what sys.stdout is replaced by, in whatever thread, as it happens."""
    seen: list[object] = []

    class Module(type(sys)):  # type: ignore[misc]
        def __setattr__(self, name: str, value: object) -> None:
            if name == "stdout":
                seen.append(value)
            super().__setattr__(name, value)

    monkeypatch.setattr(sys, "__class__", Module)
    return seen


def test_the_program_may_print_while_plans_are_made(
    spark: SparkSession, replaced: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    events = spark.range(0, 20_000, 1, 2).select(
        F.timestamp_micros(F.col("id") * 1_000_000).alias("ts"), (F.col("id") % 7).alias("k"), F.col("id").alias("v")
    )
    rate = spark.readStream.format("rate").load()
    stream = rate.select(F.col("timestamp").alias("ts"), (F.col("value") % 3).alias("k"), F.col("value").alias("v"))
    before = sys.stdout
    replaced.clear()  # pytest has set its own

    def planned(df: DataFrame) -> str:
        for _ in range(CALLS):
            mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v"), watermark="1 min", strategy="independent")
        return str(mt.explain(df, "ts", "k", WINDOWS, mt.sum("v"), watermark="1 min"))

    def printed(number: int) -> None:
        print(f"line {number}")  # noqa: T201

    with ThreadPoolExecutor(6) as pool:
        plans = [pool.submit(planned, df) for df in (events, stream, events, stream)]
        number = 0
        while not all(plan.done() for plan in plans):
            pool.submit(printed, number).result()
            number += 1
            time.sleep(0.002)
        texts = [plan.result() for plan in plans]
    assert sys.stdout is before
    assert replaced == []
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("line ")] == [
        f"line {line}" for line in range(number)
    ]
    assert all(", strategy auto, " in text.splitlines()[0] for text in texts)
