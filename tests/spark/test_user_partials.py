"""What streams and batch queries keep of users' own aggregates: data with its types, and never code."""

from __future__ import annotations

import pickle
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.input import custom
from tests.spark.streams import BEGIN, Event, Replay, by_instance, events

TEN, MINUTE = mt.tumbling("10 s"), mt.tumbling("60 s")
EARLIER = [[(1.0, "a", 5), (2.0, "b", 7), (12.0, "a", 2)], [(21.0, "a", 5), (22.0, "b", 4), (38.0, "a", 9)]]
"""The watermark passes windows of ten seconds, and slices, but not the minute."""
LATER = [[(39.0, "b", 7), (41.0, "a", 2)], [(1000.0, "z", 0)]]


class Touch:
    """An object that creates a file where somebody unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def merged(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {value: one.get(value, 0) + other.get(value, 0) for value in [*one, *(other.keys() - one.keys())]}


EXTENT = mt.user_defined(
    "extent",
    "v",
    lift=lambda v: (v, v, Decimal(v)),
    combine=lambda a, b: (min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]),
    lower=lambda partial: f"{partial}",
    returns="string",
)
COUNTS = mt.user_defined(
    "counts", "v", lift=lambda v: {v: 1}, combine=merged, lower=lambda p: f"{sorted(p.items())}", returns="string"
)


def ask(strategy: str, *aggregates: mt.Aggregate) -> dict[str, Any]:
    asked = {"time": "ts", "by": "k", "windows": [TEN, MINUTE], "watermark": "10 s", "strategy": strategy}
    return asked | {"aggregates": list(aggregates)}


def expected(rows: list[Event]) -> dict[tuple[Any, ...], Any]:
    """Evaluate the aggregates in plain Python, by window, start and key."""
    inside: dict[tuple[Any, ...], list[tuple[int]]] = {}
    for second, key, value in sorted(rows):
        for window, length in ((TEN, 10), (MINUTE, 60)):
            inside.setdefault((window.label, second // length * length, key), []).append((value,))
    return {name: tuple(each.evaluate(values) for each in (EXTENT, COUNTS)) for name, values in inside.items()}


def sentence_is_first(text: str, sentence: str) -> bool:
    """Whether an error of Spark says what is wrong before it shows the traceback of a worker."""
    return sentence in text.partition("Traceback (most recent call last)")[0]


@pytest.mark.parametrize("strategy", ["chain", pytest.param("expand", marks=pytest.mark.long)])
def test_partials_outlive_a_restart(spark: SparkSession, tmp_path: Path, strategy: str) -> None:
    """Tuples and dicts with keys that are numbers come back as such; slices are kept as partials in the chain."""
    replay, asked = Replay(spark, tmp_path), ask(strategy, EXTENT, COUNTS)
    replay.add(*(events(*rows) for rows in EARLIER)).run(asked, files=True)
    slices = [state.rows for state in mt.state(tmp_path / "kept/checkpoint") if state.operator == 0]
    assert slices, "the second operator holds no partials"
    replay.add(*(events(*rows) for rows in LATER))
    rows = replay.run(asked, files=True).rows.collect()
    assert by_instance(rows) == expected([row for file in [*EARLIER, LATER[0]] for row in file])


def test_pickles_in_a_state_are_refused_and_not_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay, asked, touched = Replay(spark, tmp_path), ask("chain", EXTENT), tmp_path / "touched"
    planted = pickle.dumps(Touch(touched))
    with monkeypatch.context() as earlier:
        earlier.setattr(custom, "encode_partial", lambda partial, owner: planted)
        earlier.setattr(custom, "decode_partial", lambda state, owner: (None,))
        earlier.setattr(custom, "_total", lambda function, partials: (0,))
        replay.add(*(events(*rows) for rows in EARLIER)).run(asked, files=True)
    replay.add(*(events(*rows) for rows in LATER))
    with pytest.raises(StreamingQueryException) as refused:
        replay.run(asked, files=True)
    assert sentence_is_first(str(refused.value), "the state of aggregate 'extent' was pickled by an earlier version")
    assert not touched.exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_all_protocols_are_refused(tmp_path: Path, protocol: int) -> None:
    touched = tmp_path / "touched"
    for value in ((3,), Touch(touched)):
        for kind in (bytes, bytearray):
            with pytest.raises(
                mt.QueryError,
                match=r"^the state of aggregate 'f' was pickled by an earlier version, which is not loaded\. Use a new",
            ):
                custom.decode_partial(kind(pickle.dumps(value, protocol)), "aggregate 'f'")
    assert not touched.exists()


def test_partials_are_text_in_bytes() -> None:
    assert custom.encode_partial(None, "it") is custom.decode_partial(None, "it") is None
    for kind in (bytes, bytearray):
        assert custom.decode_partial(kind(custom.encode_partial(({3: "é"},), "it") or b""), "it") == ({3: "é"},)
    for data in (b'{"format":1,"value":{"tuple":["\xc3\xa9"]}}', b'{"format":1,"value":"\xff"}', b'{"format":1'):
        with pytest.raises(mt.QueryError, match=r"^the state of aggregate 'f' is damaged .*Use a new checkpoint"):
            custom.decode_partial(data, "aggregate 'f'")


@pytest.mark.parametrize("strategy", ["independent", "native"])
def test_partials_that_are_no_data_are_refused_in_words(spark: SparkSession, strategy: Any) -> None:
    counted = mt.user_defined("f", "v", lift=lambda v: Counter([v]), combine=Counter.__add__, lower=len)
    df = spark.range(3).select(F.lit(BEGIN).alias("ts"), F.col("id").alias("v"))
    with pytest.raises(PythonException) as refused:
        mt.aggregate(df, "ts", (), [TEN, MINUTE], counted, strategy=strategy).collect()
    refusal = "a partial of aggregate 'f' has a value of type 'Counter', which cannot be kept. Use None, bool"
    assert sentence_is_first(str(refused.value), f"QueryError: {refusal}")


def test_errors_of_lower_are_told_before_their_traceback(spark: SparkSession) -> None:
    """The only step of the three that runs nothing but a function of the user."""
    ratio = mt.user_defined("f", "v", lift=lambda v: v, combine=lambda a, b: a + b, lower=lambda total: 1 // total)
    df = spark.range(1).select(F.lit(BEGIN).alias("ts"), F.col("id").alias("v"))
    with pytest.raises(PythonException) as failed:
        mt.aggregate(df, "ts", (), MINUTE, ratio, strategy="native").collect()
    assert sentence_is_first(str(failed.value), "ZeroDivisionError: ")


def test_values_of_spark_are_kept(spark: SparkSession) -> None:
    """A lift may return its column's value as it is, of any type but structs and what only Spark has."""
    values = "1Y, 2.5F, 'x', X'0102', 3.10BD, date'2024-01-01', timestamp'2024-01-01 10:00:00', interval '1' day"
    values += ", array(1, null), map(1, 'x'), array(map('x', true))"
    df = spark.sql(f"SELECT timestamp'2024-01-01' AS ts, {values}").toDF("ts", *(f"v{i}" for i in range(11)))
    first = [
        mt.user_defined(f"f{i}", f"v{i}", lift=lambda v: v, combine=lambda a, b: a, lower=repr, returns="string")
        for i in range(11)
    ]
    row = mt.aggregate(df, "ts", (), MINUTE, first, strategy="native", layout="wide").collect()[0]
    texts = F.udf(lambda *values: [repr(value) for value in values], "array<string>")
    assert list(row)[1:] == df.select(texts(*df.columns[1:])).collect()[0][0]
