"""What is wrong with a join is said before any job starts; what would be too much is said before it runs."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.test_bad_input import _jobs


@pytest.fixture(scope="module")
def left(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "select 'a' user, timestamp'2024-01-01' ts, 1 ad, map(1, 2) m, 1 within, timestamp_ntz'2024-01-01' n"
    )


@pytest.fixture(scope="module")
def right(spark: SparkSession) -> DataFrame:
    return spark.sql("select 'a' user, timestamp'2024-01-01' ts, 1 price, 2L ad, map(1, 2) m, 'x' day")


def ask(left: DataFrame, right: DataFrame, **changes: Any) -> DataFrame:
    asked: dict[str, Any] = {"on": "user", "left_time": "ts", "right_time": "ts"} | changes
    if not {"within", "windows"} & changes.keys():
        asked["within"] = "1 hour"
    result: DataFrame = mt.join(left.drop("within") if changes.get("left_time") != "n" else left, right, **asked)
    return result


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"on": []}, "on is empty, and all rows would meet all others. Use a column that both sides have. Columns of"),
        ({"on": "price"}, "left side: no column 'price' in the input. Its columns are 'user'"),
        ({"on": [3]}, "on has 3, which is not a column"),
        ({"on": ["user", "USER"]}, "key 'user' appears twice in on"),
        (
            {"on": "ad"},
            "key 'ad' is of type int on the left side and bigint on the right. Cast one, such as right.with",
        ),
        ({"on": "m"}, "key 'm' is of type map<int,int>, which Spark cannot compare"),
        ({"left_time": "when"}, "left side: no column 'when'"),
        ({"right_time": "day"}, "right side: time column 'day' is of type string, not a timestamp"),
        ({"left_time": "n"}, "left_time is of type timestamp_ntz and right_time of type timestamp, which have no dist"),
        ({"within": None, "windows": None}, "neither within nor windows is given. Use within=['1 hour']"),
        ({"windows": "1 hour", "within": "1 hour"}, "both within and windows are given"),
        ({"within": ["0 s"]}, "range 0s is not positive"),
        ({"within": "1 month"}, "has no fixed length"),
        ({"within": ["1 h", "60 min"]}, "range '1h' appears twice"),
        ({"within": "4000000 days"}, "longer than the time that Spark knows"),
        ({"windows": ["1 h", "1 h"]}, "appears twice"),
        ({"windows": [mt.tumbling("1 h", id="w"), mt.tumbling("2 h", id="w")]}, "window id 'w' is given twice"),
        ({"windows": mt.tumbling(3600)}, "range 3600 has no unit of time"),
        ({"how": "outer"}, "unknown how 'outer'. Use 'inner' or 'left'"),
        ({"direction": "back"}, "unknown direction 'back'. Use 'both' or 'forward'"),
        ({"windows": "1 hour", "direction": "forward"}, "direction='forward' is for within="),
        ({"aggregates": mt.count()}, "aggregates are per instance of a window, and within= has none. Use windows="),
        ({"windows": "1 h", "aggregates": []}, "no aggregates were given"),
        ({"windows": "1 h", "aggregates": mt.sum("price")}, "Write 'left.price' or 'right.price'"),
        ({"windows": "1 h", "aggregates": mt.sum("left.price")}, "no column 'price' on the left side. Its columns are"),
        ({"windows": "1 h", "aggregates": mt.sum("right.m")}, "does not take column"),
        ({"windows": "1 h", "aggregates": [mt.count(), mt.count()]}, "output name 'count' appears twice"),
        ({"strategy": "hash"}, "unknown strategy 'hash'. Use 'auto', 'keys' or 'stretches'"),
        ({"most_pairs": "many"}, "most_pairs='many' is not a number of pairs"),
    ],
)
def test_bad_joins_are_refused_before_any_job(
    spark: SparkSession, left: DataFrame, right: DataFrame, changes: dict[str, Any], message: str
) -> None:
    jobs = _jobs(spark)
    with pytest.raises(mt.QueryError) as error:
        ask(left, right, **changes)
    assert message in str(error.value)
    assert _jobs(spark) == jobs


def test_other_kinds_of_windows_are_refused(left: DataFrame, right: DataFrame) -> None:
    with pytest.raises(mt.UnsupportedError, match="a join takes windows on a grid of time only, not 'session 1h'"):
        ask(left, right, windows=[mt.session_window("1 hour")])


def test_what_is_no_dataframe_and_names_that_clash(left: DataFrame, right: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match="right is the text 'clicks', not a Spark DataFrame"):
        mt.join(left, "clicks", "user", "ts", "ts", within="1 h")  # type: ignore[arg-type]
    with pytest.raises(mt.QueryError, match=r"the result would have two columns 'within'. Rename that of the input"):
        mt.join(left, right, "user", "ts", "ts", within="1 h")
    with pytest.raises(mt.QueryError, match="left side: the input has two columns 'ad'"):
        mt.join(left.select("*", "ad"), right, "user", "ts", "ts", within="1 h")
    with pytest.raises(mt.QueryError, match="cannot be read"):
        ask(left, right, windows="1 h", aggregates=mt.sum(F.col("nowhere") + 1))


def test_many_pairs_are_warned_of_before_they_are_made(spark: SparkSession) -> None:
    """A billion rows of one key on each side: nothing of it runs but a look at the first rows."""
    number = F.col("id")
    rows = spark.range(10**9).select(F.lit("a").alias("k"), F.timestamp_seconds(number).alias("ts"), number.alias("v"))
    with pytest.warns(
        mt.MuntinWarning, match=r"would give about [\d,]+ trillion rows: .* rows of about 1 keys over \d+d,"
    ) as told:
        mt.join(rows, rows, "k", "ts", "ts", within=["1 hour", "30 days"])
    assert len(told) == 1
    assert told[0].filename == __file__
    with pytest.warns(mt.MuntinWarning, match="most_pairs=10"):
        mt.join(rows, rows, "k", "ts", "ts", windows=mt.hopping("30 days", "1 day"))


def test_few_pairs_are_not_warned_of(spark: SparkSession) -> None:
    number = F.col("id")
    rows = spark.range(10**8).select(number.alias("k"), F.timestamp_seconds(number).alias("ts"))
    one = rows.withColumn("k", F.lit(1))
    jobs = _jobs(spark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mt.join(one, one, "k", "ts", "ts", within="1 hour", most_pairs=None)
        assert _jobs(spark) == jobs
        mt.join(rows, rows, "k", "ts", "ts", within="1 hour")
        mt.join(one, one, "k", "ts", "ts", windows="1 hour", aggregates=mt.count())  # makes none
