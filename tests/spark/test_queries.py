"""Many queries over one input: every query has the rows that plain Spark gives it alone."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from tests.spark.cases import KEYS, assert_same
from tests.spark.query_sets import frame_of, random_set, random_table

LONG = pytest.mark.long
WAYS = ["auto", "fragments", "conditions", "apart"]


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=LONG) for seed in range(5, 200))])
def test_every_query_has_the_rows_that_it_has_alone(spark: SparkSession, seed: int) -> None:
    r = random.Random(seed)
    df = frame_of(spark, random_table(r), r.choice([1, 3])).cache()
    keys = [*r.sample([key for key in KEYS if key != "k array"], 2), "k int"]
    queries = random_set(r, keys=keys, holistic=r.random() < 0.2)
    expected = {alone.query.name: alone.oracle(df).cache() for alone in queries}
    for way in WAYS if seed < 3 else r.sample(WAYS, 2):
        with mt.evaluate(df, [alone.query for alone in queries], strategy=way) as results:  # type: ignore[arg-type]
            for alone in queries:
                name, by = str(alone.query.name), list(map(str, alone.query.by))
                assert_same(results[name], expected[name], by, f"{way} {alone.query}", nullable=False)
