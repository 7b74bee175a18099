"""Sketches differ with the rows that meet in them, so with the strategy; how far is promised, and tested here."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.capabilities import Feature
from tests.spark.since import since

WINDOWS = [mt.tumbling("1 minute"), mt.hopping("10 minutes", "5 minutes"), mt.tumbling("1 hour")]
STRATEGIES = ("independent", "expand", "slices_explode")
FRACTIONS = (0.01, 0.5, 0.95)
RANK_ERROR = {20: 0.1248, 200: 0.0133}
"""Of a KLL sketch with confidence 99 %, as Apache DataSketches gives it: 2.296 / k ** 0.9723."""


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> Iterator[DataFrame]:
    """Give an hour of events whose values are drawn from many and lie unevenly."""
    drawn = np.random.default_rng(5).lognormal(9, 1, 120_000)
    rows = spark.createDataFrame(list(enumerate(drawn.tolist())), "i long, v double").repartition(4)
    made = rows.select(F.timestamp_millis(F.col("i") * 30).alias("ts"), "v", F.floor("v").alias("item"))
    yield made.cache()
    made.unpersist()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("lg_k", [8, 12])
def test_distinct_counts_lie_within_four_standard_errors(df: DataFrame, strategy: str, lg_k: int) -> None:
    asked = [mt.approx_count_distinct("item", lg_k=lg_k).alias("about"), mt.count_distinct("item").alias("exact")]
    rows = mt.aggregate(df, "ts", (), WINDOWS, asked, strategy=strategy).collect()  # type: ignore[arg-type]
    error = 1.04 / math.sqrt(2**lg_k)
    off = [abs(row["about"] - row["exact"]) / row["exact"] for row in rows]
    assert max(row["exact"] for row in rows) > 10 * 2**lg_k or lg_k == 12
    assert max(off) <= 4 * error
    assert sum(one <= error for one in off) > 0.5 * len(off)  # of a normal error 68 %


@since(Feature.QUANTILE_SKETCHES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("k", [20, 200])
def test_quantiles_lie_within_the_promised_rank_error(df: DataFrame, strategy: str, k: int) -> None:
    """At the confidence of 99 % that it is promised with, and never twice as far off."""
    asked = [mt.approx_quantile("v", fraction, k=k).alias(f"q{i}") for i, fraction in enumerate(FRACTIONS)]
    rows = mt.aggregate(df, "ts", (), WINDOWS, asked, strategy=strategy).collect()  # type: ignore[arg-type]
    events: NDArray[np.float64] = np.array(df.select(F.unix_millis("ts"), "v").collect())
    off = []
    for row in rows:
        start, end = (time.timestamp() * 1000 for time in row["window"])
        values = events[(events[:, 0] >= start) & (events[:, 0] < end), 1]
        for i, fraction in enumerate(FRACTIONS):
            off.append(abs(float(np.mean(values <= row[f"q{i}"])) - fraction))
    assert max(off) <= 2 * RANK_ERROR[k] + 0.001
    assert sum(one <= RANK_ERROR[k] + 0.001 for one in off) >= 0.97 * len(off)


@since(Feature.QUANTILE_SKETCHES)
def test_strategies_do_not_give_the_same_sketches(df: DataFrame) -> None:
    """They could not: which rows meet in which sketch differs. Where they do all of a sudden, say so in the docs."""
    asked = [mt.approx_quantile("v", 0.5, k=20), mt.approx_count_distinct("item", lg_k=8)]
    given = []
    for strategy in ("expand", "slices_explode"):
        rows = mt.aggregate(df, "ts", (), WINDOWS, asked, strategy=strategy).collect()
        given.append({(row["window_id"], row["window"]): row[2:] for row in rows})
    assert given[0].keys() == given[1].keys()
    assert given[0] != given[1]
