"""The test that matters most: whatever the strategy, the rows are those of the plain Spark plan."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin.plan.physical.shapes import Shape
from tests.spark.cases import assert_same, random_case

APART = (Shape.INDEPENDENT, Shape.RANGES_KERNEL, Shape.MARKS)
"""The plain plan, a strategy of its own, and shapes of aggregates that test_holistic is about."""
SHAPES: list[Any] = ["auto", "independent", *(shape.name.lower() for shape in Shape if shape not in APART)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--cases")))


def test_same_rows_as_plain_spark(spark: SparkSession, seed: int) -> None:
    """Every strategy, on random windows, keys, types and data."""
    case = random_case(spark, seed)
    expected = case.oracle().cache()
    try:
        for strategy in SHAPES:
            actual = mt.aggregate(case.frame, "ts", case.by, case.windows, case.aggregates, strategy=strategy)
            assert_same(actual, expected, case.by, (seed, strategy, case.windows))
    finally:
        expected.unpersist()
