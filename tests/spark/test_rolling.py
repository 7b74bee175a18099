"""mt.rolling: whatever the strategy, the rows are those of Spark's own window functions."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.testing.objects import PythonOnlyPoint, PythonOnlyUDT

import muntin as mt
from muntin.spark.capabilities import Feature
from muntin.spark.sessions import ARROW_ROWS
from tests.spark.cases import LOOSE, equal, quoted, random_events
from tests.spark.since import HERE, since
from tests.spark.test_edges import setting

pytestmark = pytest.mark.smoke

LENGTHS = {
    "1 us": 1,
    "20 ms": 20_000,
    "7 s": 7_000_000,
    "1m30s": 90_000_000,
    "1 h": 3_600_000_000,
    "30 d": 2592000000000,
}


def plain_rolling(
    df: DataFrame, by: Iterable[str], ranges: Iterable[str], rows: Iterable[int], plain: dict[str, Column]
) -> DataFrame:
    """Write what a Spark user writes today; wall-clock times count as UTC."""
    ordered = Window.partitionBy(*map(quoted, by)).orderBy(F.unix_micros(F.col("ts").cast("timestamp")))
    frames = {name: ordered.rangeBetween(-LENGTHS[name], Window.currentRow) for name in ranges}
    frames |= {f"{count} rows": ordered.rowsBetween(1 - count, Window.currentRow) for count in rows}
    return df.select(
        "*",
        *(
            column.over(frame).alias(f"{name}_{label.replace(' ', '')}")
            for name, column in plain.items()
            for label, frame in frames.items()
        ),
    )


def assert_same_events(actual: DataFrame, expected: DataFrame, context: object = "") -> None:
    """Compare schemas with nullability, and rows told by the column unique; floats to 1e-9."""
    ours, theirs = ([(f.name, f.dataType, f.nullable) for f in frame.schema] for frame in (actual, expected))
    assert ours == theirs
    rows, wanted = ({row["unique"]: row for row in frame.collect()} for frame in (actual, expected))
    assert rows.keys() == wanted.keys(), context
    assert actual.count() == len(rows), context
    for key, row in wanted.items():
        for name, value, theirs_value in zip(actual.columns, rows[key], row, strict=True):
            loose = 1e-6 if name.split(" ")[0] in LOOSE else 1e-9
            same = equal(value, theirs_value, loose) or repr(value) == repr(
                theirs_value
            )  # variants equal only themselves
            assert same, f"{name}: {value!r} != {theirs_value!r} in {row} {context}"


def uses_kernel(frame: DataFrame) -> bool:
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain()
    return "MapInArrow" in text.getvalue()


def in_chunks(ranges: Iterable[str]) -> mt.Statistics:
    """Give an estimate of the span that cuts the data into many chunks."""
    return mt.Statistics(rows=100, keys=1, span=2 * max(LENGTHS[name] for name in ranges) + 1)


def skip_if_spark_refuses(expected: DataFrame) -> None:
    """Leave a case out that plain Spark cannot evaluate: before 4.3 the correlation with a constant divides by zero."""
    try:
        expected.count()
    except ArithmeticException:
        if HERE.version.startswith("4.3"):
            raise
        pytest.skip(f"Spark {HERE.version} itself divides by zero")


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(s, marks=pytest.mark.long) for s in range(5, 16))])
def test_same_rows_as_plain_spark(spark: SparkSession, seed: int) -> None:
    """Random types, keys, ties, nulls, frames; rows in order are only known where times are."""
    r = random.Random(1000 + seed)
    counted = seed % 3 == 0
    frame, by, aggregates, plain = random_events(spark, r, seed, holistic=False, unique_times=counted or None)
    ranges = r.sample(list(LENGTHS), r.randint(0 if counted else 1, 4))
    rows = r.sample([1, 2, 5, 100], r.randint(1, 3)) if counted else []
    frame = frame.where(F.col("ts").isNotNull()) if rows else frame
    named = {asked.name: column for asked, column in zip(aggregates, plain, strict=True)}
    expected = plain_rolling(frame, by, ranges, rows, named).cache()
    skip_if_spark_refuses(expected)
    with setting(spark, ARROW_ROWS, r.choice(["7", "10000"])):
        ask = partial(mt.rolling, frame, "ts", by, ranges, aggregates, rows=rows)
        assert_same_events(ask(strategy="kernel"), expected, (seed, "kernel"))
        assert_same_events(ask(), expected, (seed, "auto"))
        if ranges and not rows:
            assert_same_events(ask(strategy="kernel", statistics=in_chunks(ranges)), expected, (seed, "chunks"))
    expected.unpersist()


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> Iterator[DataFrame]:
    """Give two thousand events with ties, some of no time, of three keys."""
    number = F.col("id")
    made = spark.range(0, 2000, 1, 3).select(
        F.when(number % 50 != 0, F.timestamp_micros((number % 700 - 300) * 1_000_000)).alias("ts"),
        F.when(number % 7 != 0, F.concat(F.lit("k"), number % 3)).alias("key"),
        (number * 7 % 101).alias("v"),
        number.alias("unique"),
    )
    yield made.cache()
    made.unpersist()


@pytest.mark.parametrize("by", [[], ["key"]])
def test_events_without_a_time_are_peers(events: DataFrame, by: list[str]) -> None:
    asked = [mt.count().alias("n"), mt.sum("v").alias("s"), mt.last("v").alias("l")]
    named = {"n": F.count("*"), "s": F.sum("v"), "l": F.max_by("v", F.unix_micros("ts"))}
    known = events.where("ts is null or unique < 700")  # a last value of several of the same time may be any
    expected = plain_rolling(known, by, ["7 s", "1m30s"], [], named)
    actual = mt.rolling(known, "ts", by, ["7 s", "1m30s"], asked, strategy="kernel")
    assert uses_kernel(actual)
    assert_same_events(actual, expected)
    one = known.where("ts is not null or unique < 21")
    expected = plain_rolling(one, by, ["7 s"], [3], named)
    if by:  # two rows without a time have no order among them
        assert_same_events(mt.rolling(one, "ts", by, ["7 s"], asked, rows=[3], strategy="kernel"), expected)


def test_hot_keys_are_cut_by_time(events: DataFrame) -> None:
    named = {"low": F.min("v"), "n": F.count("v"), "mean": F.avg("v")}
    asked = [mt.min("v").alias("low"), mt.count("v").alias("n"), mt.avg("v").alias("mean")]
    expected = plain_rolling(events, [], ["7 s", "20 ms"], [], named)
    for statistics in (in_chunks(["7 s"]), mt.Statistics(rows=2000, keys=100, span=1000_000_000)):
        actual = mt.rolling(events, "ts", (), ["7 s", "20 ms"], asked, strategy="kernel", statistics=statistics)
        assert_same_events(actual, expected)


def test_one_range_and_expressions(events: DataFrame) -> None:
    later = F.col("ts") + F.expr("interval 3 minutes")
    key, twice = F.upper("key"), F.col("v") * 2
    actual = mt.rolling(events, later, key, timedelta(seconds=7), mt.max(twice).alias("m"), strategy="kernel")
    assert actual.columns == ["ts", "key", "v", "unique", "m_7s"]
    expected = plain_rolling(events, ["key"], ["7 s"], [], {"m": F.max(twice)})
    assert_same_events(actual, expected)


def test_rows_with_equal_orders_and_zeros_of_both_signs(spark: SparkSession) -> None:
    """Which of two equals counts is the same in all strategies."""
    r = random.Random(3)
    rows = [(i, r.choice("ab"), r.choice([0.0, -0.0, 1.0]), r.choice([1, 2])) for i in range(400)]
    df = spark.createDataFrame(rows, "i long, k string, v double, o int").withColumn("ts", F.timestamp_seconds("i"))
    asked = [mt.max_by("i", "o"), mt.min_by("i", "o"), mt.min("v"), mt.max("v"), mt.sum("v")]
    given = [mt.rolling(df, "ts", "k", "20 s", asked, rows=[2, 9], strategy=name) for name in ("kernel", "independent")]
    kernel, plain = ({row["i"]: str(row) for row in frame.collect()} for frame in given)
    assert kernel == plain


def test_sums_that_leave_64_bits_are_an_error(spark: SparkSession) -> None:
    rows = [(0, -10), (1, 2**63 - 1), (2, 1), (3, 5)]
    df = spark.createDataFrame(rows, "i long, v long").withColumn("ts", F.timestamp_seconds("i"))
    for strategy in ("kernel", "independent"):
        with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW") as raised:
            mt.rolling(df, "ts", (), (), mt.sum("v"), rows=[3], strategy=strategy).collect()
        before = str(raised.value).partition("Traceback")[0]
        assert strategy != "kernel" or "OverflowError: [ARITHMETIC_OVERFLOW] long overflow in a sum." in before


def test_names_of_results(events: DataFrame) -> None:
    asked = [mt.sum("v").alias("sum"), mt.count()]
    columns = mt.rolling(events, "ts", "key", ["1 hour", "1 day 2 hours", "1500 us"], asked, rows=100).columns[4:]
    labels = ["1h", "1d2h", "1ms500us", "100rows"]
    assert columns == [f"{name}_{label}" for name in ("sum", "count") for label in labels]


CARRIED = {
    "a b": "struct(id as x, struct('é' as `y.z`, null as w) as `n n`)",
    "a.b": "array(cast(id as int), null)",
    "full": "array(1, 2)",
    "c`d": "map(cast(id as string), array(named_struct('q', 1.5D)))",
    'e"f': "cast(id as decimal(20, 3))",
    "g'h": "date'1500-02-03'",
    "ntz": "timestamp_ntz'1500-02-03 04:05:06.789'",
    "zoned": "timestamp'1801-01-01 00:00:01'",
    "bytes": "cast('x' as binary)",
    "flag": "id > 1",
    "nothing": "null",
    "byte": "cast(id as tinyint)",
    "short": "cast(id as smallint)",
    "float": "cast('NaN' as float)",
    "time between": "interval '1 02:03:04' day to second",
    "int": "cast(id as int)",
    "hours": "interval '7' hour",
    "days within": "array(named_struct('d', interval '1' day), null)",
    "times within": "map(timestamp'1500-02-03 04:05:06', array(timestamp_ntz'1500-02-03 04:05:06'))",
    "variant": "parse_json('{\"a\": [1, null]}')",
    "variants": "array(parse_json('1'), parse_json('\"x\"'))",
    "lower": "'A' collate UTF8_LCASE",
    "no fields": "struct()",
    "no elements": "cast(array() as array<int>)",
    "null elements": "array(null, null)",
    "null values": "map('a', null)",
    "null fields": "array(named_struct('a', null))",
    "no struct": "cast(null as struct<a: int>)",
    "case": "named_struct('a', 1, 'A', 2)",
}
if hasattr(T, "SpatialType"):  # since Spark 4.1
    CARRIED["clock"] = "time'10:11:12.123456'"
    CARRIED["point"] = "st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')"
STAYING = {
    "months": "interval '1-2' year to month",
    "mixed": "make_interval(1, 2, 3)",
    "twice": "named_struct('a', 1, 'a', 2)",
    "nested": "array(interval '1' month)",
    "empty array": "array()",
    "empty map": "map()",
    "empty within": "named_struct('a', map('k', array(array())))",
}


POINT: Any = PythonOnlyPoint
POINTS = [(i, POINT(1.0, float(i)), [POINT(2.0, 3.0)]) for i in range(5)]
POINT_TYPES = T.StructType(
    [
        T.StructField("id", T.LongType()),
        T.StructField("user's", PythonOnlyUDT()),
        T.StructField("users'", T.ArrayType(PythonOnlyUDT())),
    ]
)


def test_columns_come_back_as_they_were(spark: SparkSession) -> None:
    """Whether they are sliced and put together, or filtered, where a key is cut into chunks of time."""
    places = setting(spark, "spark.sql.geospatial.enabled", "true")  # Spark 4.1 has them, and leaves them off
    with places, setting(spark, "spark.sql.timeType.enabled", "true"), setting(spark, ARROW_ROWS, "2"):
        df = spark.range(5).select("id", *(F.expr(text).alias(name) for name, text in CARRIED.items()))
        df = df.withColumn("unique", F.col("id")).withColumn("ts", F.timestamp_micros("id"))
        df = df.withMetadata("flag", {"about": "flags"}).join(spark.createDataFrame(POINTS, POINT_TYPES), "id")
        expected = plain_rolling(df, ["int"], ["1 us"], [], {"s": F.sum("id")})
        for statistics in (None, in_chunks(["1 us"])):
            asked: dict[str, Any] = {"strategy": "kernel", "statistics": statistics}
            actual = mt.rolling(df, "ts", "int", "1 us", mt.sum("id").alias("s"), **asked)
            assert uses_kernel(actual)
            assert_same_events(actual, expected)
            assert actual.schema["flag"].metadata == {"about": "flags"}


@pytest.mark.parametrize("name", STAYING)
def test_columns_that_do_not_travel_are_evaluated_by_spark(spark: SparkSession, name: str) -> None:
    df = spark.range(5).select(F.timestamp_micros("id").alias("ts"), "id", F.expr(STAYING[name]).alias(name))
    actual = mt.rolling(df, "ts", (), "7 s", mt.sum("id").alias("s"), strategy="kernel")
    assert not uses_kernel(actual)
    assert actual.columns == ["ts", "id", name, "s_7s"]
    assert [row[0] for row in actual.select("s_7s").orderBy("id").collect()] == [0, 1, 3, 6, 10]
    assert actual.schema[name].jsonValue() == df.schema[name].jsonValue()
    texts = [frame.select(F.col(name).cast("string")).distinct().collect() for frame in (actual, df)]
    assert texts[0] == texts[1]
    plan = mt.explain_rolling(df, "ts", (), "7 s", mt.sum("id"), strategy="kernel")
    kind = df.schema[name].dataType.simpleString()
    assert f"note: kernels are left out: column {name!r} is of type {kind}, which Arrow does not carry" in str(plan)


def test_columns_of_fixed_length_text(spark: SparkSession, tmp_path: Path) -> None:
    """A table's char and varchar columns stay what they are."""
    spark.sql(
        "create table fixed (id long, c char(5), v varchar(5), s struct<a: char(3)>) "
        f"using parquet location '{tmp_path}'"
    )
    try:
        spark.sql("insert into fixed values (1, 'ab', 'cd', struct('z')), (2, null, null, null)")
        for preserved in ("false", "true"):
            with setting(spark, "spark.sql.preserveCharVarcharTypeInfo", preserved):
                df = spark.table("fixed").select(
                    "*", F.timestamp_seconds("id").alias("ts"), F.col("id").alias("unique")
                )
                actual = mt.rolling(df, "ts", "c", "7 s", mt.max("v").alias("m"), strategy="kernel")
                assert_same_events(actual, plain_rolling(df, ["c"], ["7 s"], [], {"m": F.max("v")}))
                assert actual.schema.fields[: len(df.columns)] == df.schema.fields
    finally:
        spark.sql("drop table fixed")


def test_plans_of_rolling_windows_say_what_was_weighed(events: DataFrame) -> None:
    large = mt.Statistics(rows=10**7, keys=10, span=10**13)
    ask = partial(mt.explain_rolling, events, "ts", "key", "1 hour", mt.sum("v"), rows=[5], statistics=large)
    plan = ask()
    assert [name for name, _ in plan.alternatives] == ["kernel", "independent"]
    assert str(plan).splitlines()[1:9] == [
        "input: 10,000,000 rows, 10 keys over 115.7 days (given)",
        "└─ kernel: rows sorted by key and time, all frames by kernels in one pass",
        "   │  evaluates sum(v)",
        "   │  10,000,000 rows in, about 10,000,000 out",
        f"   │  about {plan.cost / 1e6:.2f} core-seconds",
        *(f"   │  {line}" for line in plan.techniques),
        "   ├─ frame 1h     rows on average: 361",
    ]
    assert [line.partition(" for ")[2] for line in plan.techniques] == ["sum(v)", "sum(v)"]
    assert not plan.notes
    assert [name for name, _ in ask(strategy="independent").alternatives] == ["independent"]
    assert repr(ask(strategy="independent")) == "<rolling plan of 2 frames: independent>"


def test_keys_and_values_that_no_kernel_knows(spark: SparkSession) -> None:
    df = spark.range(30).select(
        F.timestamp_micros(F.col("id") * 1000).alias("ts"),
        F.array(F.col("id") % 3).alias("k"),
        F.expr("cast(id as decimal(38, 0))").alias("v"),
        F.col("id").alias("unique"),
    )
    for by, value, plain in ((["k"], mt.count(), F.count("*")), ([], mt.sum("v"), F.sum("v"))):
        actual = mt.rolling(df, "ts", by, "20 ms", value.alias("a"), strategy="kernel")
        assert not uses_kernel(actual)
        assert_same_events(actual, plain_rolling(df, by, ["20 ms"], [], {"a": plain}))


def test_small_inputs_and_short_frames_need_no_kernel(spark: SparkSession, events: DataFrame) -> None:
    assert not uses_kernel(mt.rolling(events, "ts", "key", "1 us", mt.sum("v")))
    large = mt.Statistics(rows=10**7, keys=10, span=10**13)
    assert uses_kernel(mt.rolling(events, "ts", "key", "1 hour", mt.sum("v"), statistics=large))


HOUR = "1 hour"
BAD: list[tuple[dict[str, Any], str]] = [
    ({"time": "when"}, "no column 'when' in the input. Its columns are 'ts', 'key', 'v', 'unique'."),
    ({"by": ["key", "nowhere"]}, "no column 'nowhere'"),
    ({"by": ["key", "key"]}, "key 'key' appears twice in by"),
    ({"by": [3]}, "by has 3, which is not a column"),
    ({"ranges": []}, "no ranges were given. Give at least one, such as ranges=['1 hour'] or rows=[100]."),
    ({"ranges": [0]}, "range 0 is not positive"),
    ({"ranges": ["-5 minutes"]}, "range -5m is not positive"),
    ({"ranges": ["5 parsecs"]}, "unknown unit 'parsecs'"),
    ({"ranges": [1.5]}, "range 1.5 is not a length of time"),
    ({"ranges": ["1 hour", "60 minutes"]}, "range '1h' appears twice"),
    ({"ranges": [3600]}, "range 3600 has no unit of time. Write '3600 seconds', or whatever unit is meant."),
    ({"ranges": ["1 hour", 60]}, "range 60 has no unit of time"),
    ({"ranges": ["1 hour, 5 minutes"]}, "'1 hour, 5 minutes' is to be one window. Write several as a list"),
    ({"ranges": "1 hour every 5 minutes"}, "range '1h/5m' has a slide or an offset. Use a length alone"),
    ({"ranges": ["4000000 days"]}, "longer than the time that Spark knows"),
    ({"rows": [0]}, "rows has 0. Use whole numbers from 1"),
    ({"rows": [2**31]}, "rows has 2147483648"),
    ({"rows": ["3"]}, "rows has '3'"),
    ({"rows": [True]}, "rows has True"),
    ({"rows": [4, 4]}, "range '4rows' appears twice"),
    ({"aggregates": []}, "no aggregates were given"),
    ({"aggregates": "v"}, "'v' is not an aggregate"),
    ({"aggregates": mt.bool_and("v")}, "bool_and does not take column 'v' of type bigint"),
    ({"aggregates": [mt.sum("v"), mt.sum("v")]}, "the result would have two columns 'sum_v_1h'. Rename"),
    ({"aggregates": mt.sum("v").alias("x"), "ranges": ["1 hour"], "more": "X_1h"}, "two columns 'X_1h' and 'x_1h'"),
    ({"more": "V"}, "the input has two columns 'v' and 'V'"),
    ({"strategy": "native"}, "unknown strategy 'native'. Use 'auto', 'independent' or 'kernel'."),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_queries_are_refused_before_any_job(
    spark: SparkSession, events: DataFrame, changes: dict[str, Any], message: str
) -> None:
    asked: dict[str, Any] = {"time": "ts", "by": "key", "ranges": HOUR, "aggregates": mt.sum("v")} | changes
    more = asked.pop("more", None)
    df = events.select("*", F.lit(1).alias(more)) if more else events
    jobs = sorted(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
    with pytest.raises(mt.QueryError) as error:
        mt.rolling(df, **asked)
    assert message in str(error.value)
    assert sorted(spark.sparkContext.statusTracker().getJobIdsForGroup(None)) == jobs


@pytest.mark.parametrize(
    "aggregate",
    [
        mt.approx_count_distinct("v"),
        pytest.param(mt.approx_quantile("v", 0.5), marks=since(Feature.QUANTILE_SKETCHES)),
        mt.user_defined("f", "v", lift=int, combine=max, lower=int, returns="bigint"),
    ],
    ids=repr,
)
def test_what_spark_does_not_evaluate_over_such_windows(events: DataFrame, aggregate: mt.Aggregate) -> None:
    with pytest.raises(mt.UnsupportedError, match="over a rolling window"):
        mt.rolling(events, "ts", "key", HOUR, aggregate)


def test_keys_that_have_no_order_and_streams_are_refused(spark: SparkSession, events: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match="cannot sort by"):
        mt.rolling(events, "ts", F.create_map("key", "v"), HOUR, mt.count())
    with pytest.raises(mt.UnsupportedError, match=r"mt\.rolling does not take"):
        mt.rolling(spark.readStream.format("rate").load(), "timestamp", (), HOUR, mt.count())


def test_an_empty_input_has_the_same_columns(spark: SparkSession) -> None:
    df = spark.createDataFrame([], "ts timestamp, unique long, v int")
    actual = mt.rolling(df, "ts", (), HOUR, mt.avg("v").alias("a"), strategy="kernel")
    assert actual.collect() == []
    assert [field.simpleString() for field in actual.schema][-1] == "a_1h:double"


def test_the_last_moments_that_spark_knows(spark: SparkSession) -> None:
    times = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)]
    df = spark.createDataFrame([Row(ts=time, unique=i, v=1) for i, time in enumerate(times)])
    for strategy in ("kernel", "independent"):
        rolled = (
            mt.rolling(df, "ts", (), "3660000 days", mt.count(), strategy=strategy).select("count_3660000d").collect()
        )
        assert sorted(row[-1] for row in rolled) == [1, 2]
