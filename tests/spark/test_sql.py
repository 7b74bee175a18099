"""SQL in three dialects over generated events, compared with plans that are written by hand in plain Spark."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.input.origins import origins_of
from muntin.spark.statements.merging import merged
from muntin.spark.statements.outputs import key_names
from muntin.sqltext import read
from tests.spark.cases import equal
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, events, flush

BEGIN = datetime(2024, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def telemetry(spark: SparkSession, seed: int, rows: int = 400) -> DataFrame:
    """Give events of some hours, half of them at whole minutes, where windows begin and end; some have nulls."""
    r = random.Random(seed)

    def maybe(value: Any, share: float = 0.1) -> Any:
        return None if r.random() < share else value

    def time() -> datetime:
        whole = BEGIN + r.randrange(240) * MINUTE
        return whole if r.random() < 0.5 else whole + timedelta(microseconds=r.choice([-1, 1, r.randrange(60_000_000)]))

    table = pa.table(
        {
            "EntryTime": pa.array([maybe(time(), 0.03) for _ in range(rows)], pa.timestamp("us", "UTC")),
            "DeviceID": pa.array([maybe(r.choice(["d1", "d2", "d3"])) for _ in range(rows)]),
            "Zone": pa.array([maybe(r.randrange(3)) for _ in range(rows)], pa.int32()),
            "T": pa.array([maybe(r.gauss(20, 5)) for _ in range(rows)]),
            "n": pa.array([maybe(r.randrange(-50, 50)) for _ in range(rows)], pa.int32()),
            "price": pa.array([maybe(Decimal(r.randrange(9999)).scaleb(-2)) for _ in range(rows)], pa.decimal128(9, 2)),
            "flag": pa.array([maybe(r.random() < 0.4) for _ in range(rows)]),
            "turn": pa.array(r.sample(range(10 * rows), rows), pa.int64()),
        }
    )
    return spark.createDataFrame(table).repartition(3)


def assert_same(ours: DataFrame, theirs: DataFrame, context: str = "", *, nullable: bool = False) -> None:
    """Compare names, types and rows; floats to 1e-9, rows in any order."""
    mine, wanted = ([(f.name, f.dataType.simpleString()) for f in frame.schema] for frame in (ours, theirs))
    assert mine == wanted, context
    if nullable:
        assert [f.nullable for f in ours.schema] == [f.nullable for f in theirs.schema], context
    rows, others = (sorted(map(tuple, frame.collect()), key=_order) for frame in (ours, theirs))
    assert len(rows) == len(others), context
    for row, other in zip(rows, others, strict=True):
        assert all(equal(a, b, 1e-9) for a, b in zip(row, other, strict=True)), f"{row} != {other}: {context}"


def _order(row: tuple[Any, ...]) -> list[str]:
    return [f"{value:.6g}" if isinstance(value, float) else repr(value) for value in row]


def by_hand(
    df: DataFrame, windows: Iterable[tuple[str | None, str, str]], keys: list[str], *, ends: bool, **results: Column
) -> DataFrame:
    """Write what a Spark user writes: F.window for every window; where ends count, over times a microsecond earlier."""
    time = F.col("EntryTime") - F.expr("INTERVAL '0.000001' SECOND") if ends else F.col("EntryTime")
    branches = [
        df.groupBy(*keys, F.window(time, length, slide).alias("window"))
        .agg(*(column.alias(name) for name, column in results.items()))
        .withColumn("id", F.lit(id).cast("string"))
        for id, length, slide in windows
    ]
    return reduce(DataFrame.union, branches)


def minutes(*lengths: int, hop: int | None = None) -> list[tuple[str | None, str, str]]:
    return [(None, f"{length} minutes", f"{hop or length} minutes") for length in lengths]


PAPER = """
SELECT DeviceID, System.Window().Id, Min(T) AS MinTemp FROM Input TIMESTAMP BY EntryTime
GROUP BY DeviceID, Windows(
    Window('20 min', TumblingWindow(minute, 20)),
    Window('30 min', TumblingWindow(minute, 30)),
    Window('40 min', TumblingWindow(minute, 40)))
"""


@pytest.mark.parametrize("boundaries", [None, "[)"])
def test_azure_examples_equal_plans_by_hand(spark: SparkSession, boundaries: Any) -> None:
    df = telemetry(spark, 1)
    ends = boundaries is None

    paper = mt.sql(PAPER, boundaries=boundaries, Input=df)
    named = [(f"{length} min", f"{length} minutes", f"{length} minutes") for length in (20, 30, 40)]
    wanted = by_hand(df, named, ["DeviceID"], ends=ends, MinTemp=F.min("T"))
    assert_same(paper, wanted.select("DeviceID", F.col("id").alias("Id"), "MinTemp"))

    tumbling = ", ".join(f"TumblingWindow(minute, {length})" for length in (10, 20, 30, 40, 50, 60))
    text = f"""
        SELECT DeviceID, System.Timestamp() AS t, Avg(T) AS a, Count(*) AS c FROM input TIMESTAMP BY EntryTime
        GROUP BY DeviceID, Windows({tumbling})
    """
    wanted = by_hand(df, minutes(10, 20, 30, 40, 50, 60), ["DeviceID"], ends=ends, a=F.avg("T"), c=F.count("*"))
    result = mt.sql(text, dialect="azure", boundaries=boundaries, input=df)
    assert_same(result, wanted.select("DeviceID", F.col("window.end").alias("t"), "a", "c"))

    text = """
        SELECT System.Window().Id AS id, System.Timestamp() AS t, MAX(n) - MIN(n) AS span, SUM(price) AS s FROM input
        TIMESTAMP BY EntryTime WHERE Zone = 1 GROUP BY Windows(
            Window('1 min', Tumbling(Duration(minute, 1))), Window('15', Hopping(minute, 15, 1)),
            Window('30', HoppingWindow(Duration(mi, 30), Hop(n, 1))), Window('60', HoppingWindow(minute, 60, 1)))
        HAVING COUNT(*) > 2
    """
    hops = [("1 min", "1 minute", "1 minute"), *((f"{it}", f"{it} minutes", "1 minute") for it in (15, 30, 60))]
    results = {"span": F.max("n") - F.min("n"), "s": F.sum("price"), "rows": F.count("*")}
    wanted = by_hand(df.where("Zone = 1"), hops, [], ends=ends, **results).where("rows > 2")
    result = mt.sql(text, boundaries=boundaries, input=df)
    assert_same(result, wanted.select("id", F.col("window.end").alias("t"), "span", "s"))

    hopping = ", ".join(f"Window('H{it}', HoppingWindow(minute, {it}, 5))" for it in range(10, 70, 10))
    text = f"""
        WITH warm AS (SELECT *, n * 2 AS twice FROM input TIMESTAMP BY EntryTime WHERE T > 10)
        SELECT Zone, DeviceID AS [the device], System.Window().Id AS id, SUM(twice) AS s FROM warm
        GROUP BY Zone, DeviceID, Windows({hopping})
    """
    hops = [(f"H{it}", f"{it} minutes", "5 minutes") for it in range(10, 70, 10)]
    wanted = by_hand(df.where("T > 10"), hops, ["Zone", "DeviceID"], ends=ends, s=F.sum(F.col("n") * 2))
    result = mt.sql(text, boundaries=boundaries, input=df)
    assert_same(result, wanted.select("Zone", F.col("DeviceID").alias("the device"), "id", "s"))


def test_azure_sessions_snapshots_and_offsets(spark: SparkSession) -> None:
    df = telemetry(spark, 2, rows=150)
    selects = "SELECT DeviceID, System.Timestamp() AS t, COUNT(*) AS c, SUM(n) AS s FROM i TIMESTAMP BY EntryTime"
    for kind in ("timestamp", "timestamp_ntz"):
        given = df.withColumn("EntryTime", F.col("EntryTime").cast(kind))
        results = [F.count("*").alias("c"), F.sum("n").alias("s")]
        for boundaries in ("(]", "[)"):
            text = f"{selects} GROUP BY DeviceID, SessionWindow(minute, 3) OVER (PARTITION BY DeviceID)"
            session = given.groupBy("DeviceID", F.session_window("EntryTime", "3 minutes").alias("w"))
            wanted = session.agg(F.col("w.end").alias("t"), *results).drop("w")
            assert_same(mt.sql(text, boundaries=boundaries, i=given), wanted, f"{kind} {boundaries}")
            text = f"{selects} GROUP BY DeviceID, SnapshotWindow()"
            snapshot = given.where("EntryTime IS NOT NULL").groupBy("DeviceID", F.col("EntryTime").alias("t"))
            assert_same(mt.sql(text, boundaries=boundaries, i=given), snapshot.agg(*results), f"{kind} {boundaries}")
        hop = "HoppingWindow(Duration(hour, 1), Hop(minute, 20), Offset(minute, 7))"
        time = F.col("EntryTime") - F.expr("INTERVAL '0.000001' SECOND")
        window = F.window(time, "1 hour", "20 minutes", "7 minutes").alias("w")
        wanted = given.groupBy("DeviceID", window).agg(F.col("w.end").alias("t"), *results).drop("w")
        assert_same(mt.sql(f"{selects} GROUP BY DeviceID, {hop}", i=given), wanted, kind)


def test_azure_looks_at_the_longest_duration_of_a_session_by_its_clock(spark: SparkSession) -> None:
    minutes = (1, 4, 7, 10, 12, 14, 15, 30, 31, 34, 35, 36, 39, 40, 55)
    rows = [(f"2024-05-01 09:{minute:02}:00", minute) for minute in minutes]
    df = spark.createDataFrame(rows, "at string, m int").withColumn("ts", F.to_timestamp("at"))
    text = (
        "SELECT System.Timestamp() AS t, MIN(m) AS a, MAX(m) AS z FROM i TIMESTAMP BY ts "
        "GROUP BY Windows(Window('s', SessionWindow(minute, 3, 5)), Window('h', TumblingWindow(hour, 1)))"
    )
    expected = {  # by hand: a session ends at the first multiple of 5 minutes at which it is as long, or after a gap
        "(]": [(10, 1, 10), (18, 12, 15), (35, 30, 35), (43, 36, 40), (58, 55, 55), (60, 1, 55)],
        "[)": [
            (10, 1, 7),
            (15, 10, 14),
            (18, 15, 15),
            (35, 30, 34),
            (40, 35, 39),
            (43, 40, 40),
            (58, 55, 55),
            (60, 1, 55),
        ],
    }
    for boundaries, wanted in expected.items():
        for kind in ("timestamp", "timestamp_ntz"):
            result = mt.sql(text, boundaries=boundaries, i=df.withColumn("ts", F.col("ts").cast(kind)))  # type: ignore[arg-type]
            since = F.col("t").cast("timestamp_ntz") - F.lit("2024-05-01 09:00:00").cast("timestamp_ntz")
            micros = since.cast("interval second").cast("decimal(18, 6)") * 1_000_000
            told = result.select((micros / 60_000_000).cast("double").alias("t"), "a", "z").collect()
            assert sorted(map(tuple, told)) == wanted, f"{boundaries} {kind}"


SPARK = [
    "SELECT window, min(T), max(T) FROM events GROUP BY window(EntryTime, '10 minutes')",
    "SELECT DeviceID, window.start, window.end AS e, sum(n), avg(price), count(*) FROM events "
    "GROUP BY DeviceID, window(EntryTime, '30 minutes', '10 minutes', '3 minutes')",
    "SELECT Zone, DeviceID d, window(EntryTime, '1 hour') w, stddev(T) AS s, count(DISTINCT n) FROM events "
    "WHERE flag AND n > -40 GROUP BY 1, 2, 3 HAVING count(*) > 1 AND max(T) > 15",
    "SELECT n % 2 AS n, count(*) FROM events GROUP BY n, window(EntryTime, '1 hour')",
    "SELECT upper(DeviceID) AS u, max(T) - min(T), sum(n) / count(n) AS mean, count_if(flag) FROM events e "
    "WHERE e.Zone IS NOT NULL OR T > 20 GROUP BY upper(DeviceID), window(e.EntryTime, '20 minutes')",
    "SELECT window, count(*) AS c FROM events GROUP BY window(EntryTime, '10 minutes') "
    "UNION ALL SELECT window, count(n) FROM events GROUP BY window(EntryTime, '20 minutes') "
    "UNION ALL SELECT window, sum(n) FROM events WHERE flag GROUP BY window(EntryTime, '1 hour', '15 minutes')",
    "SELECT '10' AS w, DeviceID, max(price) AS p FROM events GROUP BY DeviceID, window(EntryTime, '10 minutes') "
    "UNION ALL SELECT '30', DeviceID, max(price) FROM events GROUP BY DeviceID, window(EntryTime, '30 minutes') "
    "HAVING max(price) > 50",
    "SELECT DeviceID, session_window.start, count(*) AS c, max_by(n, turn) FROM events "
    "GROUP BY DeviceID, session_window(EntryTime, '4 minutes')",
    "SELECT window, sum(twice) FROM (SELECT EntryTime AS at, n * 2 AS twice FROM events WHERE T > 10) "
    "GROUP BY window(at, '25 minutes')",
    "WITH warm AS (SELECT * FROM events WHERE T > 10) SELECT Zone, bool_or(flag), corr(T, n) FROM warm "
    "GROUP BY Zone, window(EntryTime, '45 minutes')",
    "SELECT DeviceID FROM events GROUP BY DeviceID, window(EntryTime, '2 hours')",
    "SELECT DeviceID, CASE WHEN Zone = 1 THEN 'one' ELSE '{other}' END AS z, count(*) FROM events "
    "GROUP BY DeviceID, CASE WHEN Zone = 1 THEN 'one' ELSE '{other}' END, window(EntryTime, '2 hours')",
    "SELECT Zone AS n, max(n) AS zone2, max(T) AS T FROM events GROUP BY Zone, window(EntryTime, '1 hour') "
    "HAVING T > 25 ORDER BY T, n",
    "SELECT upper(DeviceID) AS u, count(*) AS n FROM events GROUP BY u, window(EntryTime, '1 hour') HAVING n > 5",
    "SELECT window.end, median(n), percentile(T, 0.9) FROM events GROUP BY window(EntryTime, '2 hours')",
    "SELECT count(*) AS c, window.start AS s FROM events GROUP BY window(EntryTime, '30 minutes') "
    "ORDER BY c DESC, s LIMIT 3",
]
"""Statements about windows, in Spark SQL."""
PLAIN = [
    "SELECT DeviceID, count(*) FROM events GROUP BY DeviceID",
    "SELECT window, collect_list(n) IS NULL AS none FROM events GROUP BY window(EntryTime, '1 hour')",
    "SELECT a.DeviceID, count(*) AS c FROM events a JOIN events b USING (turn) GROUP BY a.DeviceID",
]
"""Statements that Spark runs as they are."""


def test_spark_statements_equal_spark(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    for seed in range(3, 4 if not request.config.getoption("--long") else 13):
        df = telemetry(spark, seed)
        df.createOrReplaceTempView("events")
        try:
            for place, text in enumerate([*SPARK, *PLAIN]):
                result = mt.sql(text, spark=spark) if place % 2 else mt.sql(text, EVENTS=df)
                assert_same(result, spark.sql(text), text)
                plan = result._muntin.plan
                assert bool(plan.shared) == (text in SPARK), f"{text}\n{plan}"
        finally:
            spark.catalog.dropTempView("events")


GROUPED = "FROM t GROUP BY window(at, '1 hour')"
ODD = [
    (f"SELECT window.start, count(*) {GROUPED}", ["CAST(EntryTime AS STRING) AS at"]),
    (f"SELECT window.start, count(*) {GROUPED}", ["CAST(EntryTime AS DATE) AS at"]),
    (f"SELECT window, max(n) {GROUPED}", ["CAST(EntryTime AS TIMESTAMP_NTZ) AS at", "n"]),
    (
        "SELECT x.e.k, sum(x.e.v) FROM t x GROUP BY window(x.e.at, '1 hour'), x.e.k",
        ["struct(EntryTime at, n v, Zone k) e"],
    ),
    (f"WITH t AS (SELECT * FROM t WHERE n > 0) SELECT window, count(*) {GROUPED}", ["EntryTime AS at", "n"]),
    (f"SELECT window_id, window, count(*) {GROUPED}, window_id", ["EntryTime AS at", "Zone AS window_id"]),
    (
        f"SELECT muntin_key_0, max(Muntin_Result_0) {GROUPED}, MUNTIN_KEY_0",
        ["EntryTime AS AT", "Zone AS muntin_key_0", "n AS muntin_result_0"],
    ),
    (
        "SELECT window, sum(10 / n) FROM t WHERE n <> 0 GROUP BY window(at, '1 day') "
        f"UNION ALL SELECT window, 1 {GROUPED}",
        ["EntryTime AS at", "n"],
    ),
    (f"SELECT NULL AS a, count(*) {GROUPED} UNION ALL SELECT 'x', 1.5 {GROUPED}", ["EntryTime AS at"]),
    (f"/* {{ */ SELECT window, -- it's\n count(*) AS `}}` {GROUPED} -- ;\n", ["EntryTime AS at", "n", "T AS n"]),
]
"""Statements about a table t, and the columns that it is made of: times of other types, names that clash, comments."""


def test_odd_statements_equal_spark(spark: SparkSession) -> None:
    df = telemetry(spark, 4, rows=100)
    for text, columns in ODD:
        given = df.selectExpr(*columns)
        given.createOrReplaceTempView("t")
        wanted = spark.sql(text)
        df.limit(1).createOrReplaceTempView("t")
        try:
            result = mt.sql(text, t=given)
            assert_same(result, wanted, text)
            assert spark.table("t").count() == 1
            assert result._muntin.plan.shared, text
        finally:
            spark.catalog.dropTempView("t")


def random_statement(r: random.Random) -> str:
    """Write a statement in Spark SQL over windows of some SELECTs, each with the same columns."""
    keys = r.sample(["DeviceID", "Zone", "upper(DeviceID)", "flag", "n % 3"], r.choice([0, 1, 1, 2]))
    pool = [
        *(
            "count(*)",
            "count(n)",
            "sum(n)",
            "sum(price)",
            "avg(T)",
            "min(DeviceID)",
            "max(T) - min(T)",
            "count_if(flag)",
        ),
        *("stddev_pop(T)", "bool_and(flag)", "max_by(DeviceID, turn)", "count(DISTINCT Zone)", "percentile(n, 0.25)"),
        *("sum(n) / count(*)", "sum(n * Zone)", "avg(price) + 1", "var_samp(n)", "covar_pop(T, n)", "min(EntryTime)"),
        *("count(*) FILTER (WHERE n > 0)", "count_if(flag)"),
    ]
    calls = r.sample(pool, r.randint(1, 4))
    edges = r.choice([["window"], ["window.start"], ["window.end AS e", "window.start"], []])

    def select() -> str:
        slide = r.choice([5, 7, 10, 15, 20, 60])
        window = f"window(EntryTime, '{slide * r.choice([1, 1, 2, 3])} minutes', '{slide} minutes')"
        where = r.choice(["", "", " WHERE n > 0", " WHERE T < 22 OR flag", " WHERE DeviceID IS NULL"])
        having = r.choice(["", "", "", " HAVING count(*) > 3", f" HAVING {calls[0]} IS NOT NULL AND max(n) > 10"])
        by = ", ".join(r.sample([*keys, window], len(keys) + 1))
        return f"SELECT {', '.join([*keys, *edges, *calls])} FROM events{where} GROUP BY {by}{having}"

    return " UNION ALL ".join(select() for _ in range(r.choice([1, 1, 2, 3])))


def test_random_statements_equal_spark(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    for seed in range(request.config.getoption("--cases")):
        r = random.Random(seed)
        df = telemetry(spark, seed, rows=r.choice([0, 1, 50, 300]))
        df.createOrReplaceTempView("events")
        try:
            texts = [random_statement(r) for _ in range(r.choice([1, 2, 3]))]
            results = mt.sql("; ".join(texts), spark, "spark")
            frames = [results] if len(texts) == 1 else list(results.values())
            for text, result in zip(texts, frames, strict=True):
                assert_same(result, spark.sql(text), f"{seed}: {text}")
        finally:
            spark.catalog.dropTempView("events")


FLINK = {
    "SELECT DeviceID, window_start, window_end, SUM(n) AS s FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(EntryTime), "
    "INTERVAL '10' MINUTES)) GROUP BY DeviceID, window_start, window_end": ("10 minutes", "10 minutes", "0 minutes"),
    "SELECT DeviceID, window_start, window_end, SUM(n) AS s FROM TABLE(HOP(DATA => TABLE events, TIMECOL => "
    "DESCRIPTOR(EntryTime), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '20' MINUTES)) "
    "GROUP BY DeviceID, window_start, window_end": ("20 minutes", "5 minutes", "0 minutes"),
    "SELECT DeviceID, HOP_START(EntryTime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS window_start, "
    "HOP_END(EntryTime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS window_end, SUM(n) AS s FROM events "
    "GROUP BY DeviceID, HOP(EntryTime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)": ("1 hour", "5 minutes", "0 minutes"),
}


def test_flink_forms_equal_plans_by_hand(spark: SparkSession) -> None:
    df = telemetry(spark, 5)
    s = F.sum("n").alias("s")

    def wanted(rows: DataFrame) -> DataFrame:
        edges = (F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"))
        return rows.select("DeviceID", *edges, "s")

    for text, (length, slide, offset) in FLINK.items():
        plain = df.groupBy("DeviceID", F.window("EntryTime", length, slide, offset).alias("w")).agg(s)
        assert_same(mt.sql(text, dialect="flink", events=df), wanted(plain), text)
    text = """
        SELECT DeviceID, window_start, window_end, SUM(n) AS s
        FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(EntryTime), INTERVAL '10' MINUTES, INTERVAL '1' HOUR))
        GROUP BY DeviceID, window_start, window_end
    """
    day = df.withColumn("begin", F.window("EntryTime", "1 hour").start)
    step = F.expr("explode(sequence(floor((unix_micros(EntryTime) - unix_micros(begin)) / 600000000), 5L))")
    steps = day.withColumn("step", step).withColumn("stop", F.expr("begin + (step + 1) * INTERVAL '10' MINUTE"))
    plain = steps.groupBy(
        "DeviceID", F.struct(F.col("begin").alias("start"), F.col("stop").alias("end")).alias("w")
    ).agg(s)
    assert_same(mt.sql(text, events=df), wanted(plain), text)
    text = """
        SELECT DeviceID, window_start, window_end, SUM(n) AS s
        FROM TABLE(SESSION(TABLE events PARTITION BY DeviceID, DESCRIPTOR(EntryTime), INTERVAL '4' MINUTES))
        GROUP BY DeviceID, window_start, window_end
    """
    plain = df.groupBy("DeviceID", F.session_window("EntryTime", "4 minutes").alias("w")).agg(s)
    assert_same(mt.sql(text, events=df), wanted(plain), text)


def test_several_statements_share_and_read_one_another(spark: SparkSession) -> None:
    df = telemetry(spark, 6)
    text = """
        -- name: hourly
        SELECT DeviceID, window.start AS h, max(T) AS top FROM events GROUP BY DeviceID, window(EntryTime, '1 hour');
        CREATE VIEW `half hours` AS
        SELECT window.start AS h, count(*) AS c FROM events WHERE flag GROUP BY window(EntryTime, '30 minutes');
        -- name: devices
        SELECT DeviceID, count(*) AS c FROM events GROUP BY DeviceID;
        -- name: hottest
        SELECT h, max(top) AS top FROM hourly GROUP BY h
    """
    results = mt.sql(text, dialect="spark", events=df)
    assert list(results) == ["hourly", "half hours", "devices", "hottest"]
    hour, half = (F.window("EntryTime", length).alias("w") for length in ("1 hour", "30 minutes"))
    hourly = df.groupBy("DeviceID", hour).agg(F.col("w.start").alias("h"), F.max("T").alias("top")).drop("w")
    assert_same(results["hourly"], hourly)
    halves = df.where("flag").groupBy(half).agg(F.col("w.start").alias("h"), F.count("*").alias("c")).drop("w")
    assert_same(results["half hours"], halves)
    assert_same(results["devices"], df.groupBy("DeviceID").agg(F.count("*").alias("c")))
    assert_same(results["hottest"], hourly.groupBy("h").agg(F.max("top").alias("top")))
    plan = mt.explain_sql(text, dialect="spark", events=df)
    assert [shared.statements for shared in plan.shared] == [("hourly", "half hours")]
    assert {plain.name: bool(plain.reason) for plain in plan.plain} == {"devices": True, "hottest": True}
    for told in (plan.explain(), plan.to_json(), plan.to_mermaid(), plan.to_html()):
        assert all(name in told for name in ("hourly", "half hours", "devices"))
    assert not {table.name for table in spark.catalog.listTables()} & {"events", "hourly", "half hours"}


NASTY = ["a b", "it's", "`tick", 'quo"te', "semi;colon", "--", "select", "ünï√", "x' OR '1'='1", "{brace}", "a.b", "1"]


def test_names_are_quoted_all_the_way(spark: SparkSession) -> None:
    df = telemetry(spark, 7, rows=60)
    window = F.window("EntryTime", "1 hour").alias("w")
    sums = df.groupBy("DeviceID", window).agg(F.sum("n")).drop("w")
    for name, other in zip(NASTY, [*NASTY[1:], NASTY[0]], strict=True):
        given: dict[str, Any] = {name: df.withColumnsRenamed({"DeviceID": name, "n": other})}
        literal = "{x}; -- " + name.replace("'", "")
        wanted = sums.toDF(f"1 {other}", f"2 {name}").withColumn("c", F.lit(literal))
        forms: list[tuple[Any, str, str]] = [
            ("spark", "`", "GROUP BY {}, window(EntryTime, '1 hour')"),
            ("azure", '"', "TIMESTAMP BY EntryTime GROUP BY {}, TumblingWindow(hour, 1)"),
        ]
        for dialect, quote, by in forms:
            names = (name, other, f"1 {other}", f"2 {name}")
            key, value, first, second = (quote + it.replace(quote, quote * 2) + quote for it in names)
            text = f"SELECT {key} AS {first}, sum({value}) AS {second}, '{literal}' AS c FROM {key} {by.format(key)}"
            assert_same(mt.sql(text, dialect=dialect, boundaries="[)", **given), wanted, text)


MISTAKES = [
    (
        "SELECT sum(pryce) FROM events GROUP BY window(EntryTime, '1 hour')",
        "pryce",
        ["line 1, column 12", "no column 'pryce'", "Did you mean 'price'"],
    ),
    (
        "SELECT sum(n)\nFROM event\nGROUP BY window(EntryTime, '1 hour')",
        "event",
        ["line 2, column 6", "no table 'event'", "Did you mean 'events'"],
    ),
    ("SELECT summ(n) FROM events GROUP BY window(EntryTime, '1 hour')", "summ", ["line 1, column 8", "summ"]),
    ("SELECT sum(DeviceID) + '2024' FROM events WHERE n GROUP BY window(EntryTime, '1 hour')", "", ["line 1"]),
    ("SELECT DeviceID FROM events GROUP BY window(EntryTime, '1 hour')", "", ["line 1"]),
    ("SELECT sum(n) FROM events GROUP BY window(n, '1 hour')", "", ["line 1"]),
    ("SELECT sum(n), nope FROM events", "nope", ["line 1, column 16", "no column 'nope'"]),
    ("DROP TABLE events", "", ["line 1"]),
    (
        "SELECT MIN(Tx) FROM events TIMESTAMP BY EntryTime GROUP BY TumblingWindow(hour, 1)",
        "Tx",
        ["column 12", "no column 'Tx'", "'T'"],
    ),
    (
        "SELECT MIN(T) FROM events TIMESTAMP BY Entrytimes GROUP BY TumblingWindow(hour, 1)",
        "Entrytimes",
        ["column 40", "Did you mean 'EntryTime'"],
    ),
    (
        "SELECT MIN(T) FROM events TIMESTAMP BY n GROUP BY TumblingWindow(hour, 1)",
        "",
        ["event time 'n' is of type int"],
    ),
    ("SELECT SUM(flag) FROM events TIMESTAMP BY EntryTime GROUP BY TumblingWindow(hour, 1)", "", ["sum"]),
]


def test_mistakes_point_into_the_text(spark: SparkSession) -> None:
    df = telemetry(spark, 8, rows=10)
    for text, at, told in MISTAKES:
        for call in (mt.sql, mt.explain_sql):
            with pytest.raises(mt.QueryError) as error:
                call(text, events=df)
            message = str(error.value)
            assert all(part in message for part in told), f"{text}\n{message}"
            if at:
                line, carets = message.splitlines()[-2:]
                assert line[carets.index("^") :].startswith(at), message
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"events": [1, 2]}, "source 'events' is of type list"),
        ({"spark": df}, "spark is of type DataFrame"),
        ({"events": df, "EVENTS": df}, "'events' and 'EVENTS' are the same to Spark"),
        ({"events": df, "strategy": "fast"}, "unknown strategy 'fast'"),
    ]
    for arguments, match in wrong:
        with pytest.raises(mt.QueryError, match=match):
            mt.sql(SPARK[0], **arguments)
    with pytest.raises(mt.QueryError, match="Give it as text"):
        mt.sql(3, events=df)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("columns", "keys", "names"),
    [
        ("window, k AS key, count(*) AS n", "k", ("key",)),
        ("n, window, k, count(*) AS c", "k, n", ("k", "n")),
        ("window, count(*) AS c", "", ()),
        ("window, upper(k) AS k, count(*) AS c", "k", None),
        ("window, count(*) AS c", "k", None),
    ],
)
def test_a_statement_names_its_keys(columns: str, keys: str, names: tuple[str, ...] | None) -> None:
    grouped = ", ".join(filter(None, ["window(ts, '1 minute')", keys]))
    text = f"SELECT {columns} FROM t GROUP BY {grouped}"
    (statement,) = read(text)
    assert key_names(merged(statement), None) == names


@pytest.mark.parametrize("where", ["", "WHERE v > 1"])
def test_keys_have_the_same_places_in_a_union(where: str) -> None:
    for columns, names in (("k AS key, 'b' AS x", ("key",)), ("'b' AS key, k", None)):
        union = f"""
            SELECT k AS key, 'a' AS x, window, count(*) AS n FROM t GROUP BY k, window(ts, '1 minute') UNION ALL
            SELECT {columns}, window, count(*) FROM t {where} GROUP BY k, window(ts, '2 minutes')
        """
        (statement,) = read(union)
        assert key_names(merged(statement), None) == names


def test_streams_give_what_batches_give(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(second, "ab"[second // 5 % 2], second) for second in range(0, 400, 5)]
    replay = Replay(spark, tmp_path).add(*(events(*rows[start : start + 30]) for start in range(0, len(rows), 30)))
    replay.add(flush(events(*rows), timedelta(hours=1)))
    batch = replay.batch.where("v IS NOT NULL")
    azure = """
        SELECT k, System.Window().Id AS id, System.Timestamp() AS t, SUM(v) AS s FROM input TIMESTAMP BY ts
        WHERE k IN ('a', 'b') OR k IS NULL
        GROUP BY k, Windows(Window('a', TumblingWindow(second, 20)), Window('b', HoppingWindow(minute, 2, 1)))
    """
    time = F.col("ts") - F.expr("INTERVAL '0.000001' SECOND")
    branches = [
        batch.groupBy("k", F.window(time, *lengths).alias("w"))
        .agg(F.sum("v").alias("s"))
        .select("k", F.lit(id).alias("id"), F.col("w.end").alias("t"), "s")
        for id, lengths in {"a": ["20 seconds"], "b": ["2 minutes", "1 minute"]}.items()
    ]
    result = mt.sql(azure, watermark="10 seconds", input=replay.stream)
    assert result.isStreaming
    assert_same(replay.write(result).rows, branches[0].union(branches[1]))

    text = "SELECT k, window.end AS t, sum(v) AS s FROM stream GROUP BY k, window(ts, '30 seconds')"
    result = mt.sql(text, stream=replay.stream.withWatermark("ts", "10 seconds"))
    window = F.window("ts", "30 seconds").alias("w")
    wanted = batch.groupBy("k", window).agg(F.col("w.end").alias("t"), F.sum("v").alias("s")).drop("w")
    assert_same(replay.write(result).rows, wanted)
    both = f"-- name: thirty\n{text};\n-- name: ten\n{text.replace('30', '10').replace('sum(v)', 'max(v)')}"
    results = mt.sql(both, stream=replay.stream.withWatermark("ts", "10 seconds"))
    tens: list[Any] = []
    sinks = {"thirty": tmp_path / "thirty", "ten": lambda rows, _: tens.extend(rows.collect())}
    patiently(lambda: results.start(sinks, tmp_path / "both", {"availableNow": True}), to_the_end)
    assert_same(spark.read.parquet(str(tmp_path / "thirty")).drop("muntin_batch"), wanted)
    with pytest.raises(Exception, match="was written from another checkpoint"):
        results.start({"thirty": tmp_path / "thirty"}, tmp_path / "other", {"availableNow": True}).awaitTermination()
    keyed = text.replace("k, window.end AS t", "'thirty' AS window_id, window, k AS key")
    table, other = mt.UpsertTable(tmp_path / "table"), f"{text.replace('k, window.', 'window.')}"
    statements = f"-- name: keyed\n{keyed};\n-- name: other\n{other}"
    results = mt.sql(statements, stream=replay.stream.withWatermark("ts", "10 seconds"))
    assert origins_of(results["keyed"].schema).keys == ("key",)
    patiently(lambda: results.start({"keyed": table.write}, tmp_path / "keyed", {"availableNow": True}), to_the_end)
    given = table.read(spark).select(F.col("key").alias("k"), F.col("window.end").alias("t"), "s")
    assert_same(given, wanted)
    plain = batch.groupBy("k", F.window("ts", "10 seconds").alias("w")).agg(F.col("w.end"), F.max("v")).drop("w")
    assert sorted(map(tuple, tens)) == sorted(map(tuple, plain.collect()))
    with pytest.raises(mt.QueryError, match="has no watermark"):
        mt.sql(text, stream=replay.stream)
    with pytest.raises(mt.QueryError, match="orders the rows of a stream"):
        mt.sql(f"{text} ORDER BY s", watermark="10 seconds", stream=replay.stream)
    with pytest.raises(mt.UnsupportedError, match="would share a shuffle of one stream"):
        mt.sql(f"{text} UNION ALL {text.replace('GROUP', 'WHERE v > 9 GROUP')}", watermark="1 s", stream=replay.stream)
