"""Active users over a stream: exact distinct counts of 1, 7 and 30 days, sliding daily, against plain Spark.

Spark refuses count(DISTINCT) on a stream, so plain Spark is what a user writes instead: the size of a set, for every
window alone.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import muntin as mt
from muntin.plan.statistics import Statistics
from muntin.spark.stream.checkpoints import is_aggregation, operators, readable, store
from muntin.window import Window
from muntin_bench.experiments.spark import SECOND, Progress
from muntin_bench.experiments.stream import stream_session, write_file
from muntin_bench.record import Row

DAY = 86_400 * SECOND
DAYS = 45
"""Days of the stream, one micro-batch each: the longest window is full for the last fifteen."""
COUNTRIES = 5
WATERMARK = "1 hour"
CONTENDERS = ("plain", "expand", "chain", "distinct")
"""Plain Spark written by hand, and our shapes; all but the last keep a set for every open instance."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One stream of users that are active now and then."""

    events: int
    users: int

    @property
    def statistics(self) -> Statistics:
        """The true size of the stream and of its micro-batches."""
        return Statistics(self.events, COUNTRIES, DAYS * DAY, batch=self.events // DAYS)


def windows() -> list[Window]:
    """Give the windows of daily, weekly and monthly active users."""
    return [mt.tumbling("1 day"), mt.hopping("7 days", "1 day"), mt.hopping("30 days", "1 day")]


def distinct_streams(folder: Path, rounds: int, progress: Progress, events: int = 2_000_000) -> Iterator[Row]:
    """Yield throughput, micro-batch times and state of every contender, for users that come rarely and often."""
    spark = stream_session()
    warm = Setting(max(DAYS, events // 50), max(1, events // 500))
    for name in CONTENDERS:  # nobody pays for what is compiled and started only once
        run(spark, stream_files(spark, folder, warm), warm, name)
    for share in (10, 100):
        setting = Setting(events, max(1, events // share))
        source = stream_files(spark, folder, setting)
        runs: dict[str, list[Row]] = {name: [] for name in CONTENDERS}
        for _ in range(rounds):
            for name in CONTENDERS:
                runs[name].append(run(spark, source, setting, name))
        contenders = {name: _median(each) for name, each in runs.items()}
        progress(", ".join(f"{name} {row['seconds']:.1f} s" for name, row in contenders.items()))
        plan: Any = mt.explain(**_query(spark, source, setting))
        yield {
            "events": events,
            "users": setting.users,
            "countries": COUNTRIES,
            "days": DAYS,
            "contenders": contenders,
            "shape": plan.shape.name.lower(),
            "estimates": {name: round(cost / 1e6, 3) for name, cost in plan.alternatives},
        }


def stream_files(spark: SparkSession, folder: Path, setting: Setting) -> Path:
    """Write, once, the events of every day in one file; an event is of any user in any country."""
    path = folder / f"active_users_{setting.events}_{setting.users}_{DAYS}"
    if (path / "done").exists():
        return path
    shutil.rmtree(path, ignore_errors=True)
    share = setting.events // DAYS
    for day in range(DAYS):
        ids = spark.range(share, numPartitions=1)
        micros = (F.col("id") * F.lit(DAY // share)).cast("long") + F.lit(1_700_006_400 * SECOND + day * DAY)
        user = (F.rand(day) * F.lit(setting.users)).cast("long")
        country = F.concat(F.lit("country "), (F.rand(DAYS + day) * F.lit(COUNTRIES)).cast("int"))
        made = ids.select(F.timestamp_micros(micros).alias("ts"), user.alias("user"), country.alias("country"))
        write_file(made, path, day)
    (path / "done").touch()
    return path


def run(spark: SparkSession, source: Path, setting: Setting, name: Any) -> Row:
    """Run one contender over all files, from an empty checkpoint, and drop the rows."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:  # Spark may be writing there still
        start = time.perf_counter()
        asked = _query(spark, source, setting)
        out = plain(asked["df"]) if name == "plain" else mt.aggregate(**asked, strategy=name)
        writer = out.writeStream.format("noop").outputMode("append").option("checkpointLocation", place)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        seconds = time.perf_counter() - start
        reports = query.recentProgress
        late = reports[2 * len(reports) // 3 :]  # the longest window is full
        rows, size = kept(spark, place)
        return {
            "seconds": round(seconds, 3),
            "events_per_second": round(setting.events / seconds),
            "batch_ms": round(median(p["durationMs"]["triggerExecution"] for p in late if p["numInputRows"])),
            "state_rows": rows,
            "state_bytes": size,
            "checkpoint_bytes": sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file()),
        }


def plain(df: DataFrame) -> DataFrame:
    """Write what a Spark user writes today: every window alone, a set of users in each, and a union."""
    marked = df.withWatermark("ts", WATERMARK)
    branches = []
    for window in windows():
        lengths = (f"{length} microseconds" for length in window.period)
        groups = marked.groupBy("country", F.window("ts", *lengths).alias("window"))
        counted = groups.agg(F.size(F.collect_set("user")).cast("long").alias("count_distinct_user"))
        label = F.lit(window.label).alias("window_id")
        branches.append(counted.select(label, "window", "country", "count_distinct_user"))
    return reduce(DataFrame.union, branches)


def kept(spark: SparkSession, checkpoint: str) -> tuple[int, int]:
    """Give the rows and the bytes of values that the last micro-batch has left in all state operators."""
    place = readable(spark, checkpoint)
    stores = [
        each
        for operator in operators(spark, place)
        for each in (
            [store(spark, place, operator)]
            if is_aggregation(operator)
            else [store(spark, place, operator, stateVarName=name) for name in ("head", "segments")]
        )
    ]
    sizes = [frame.select(_size(frame).alias("size")).agg(F.count("size"), F.sum("size")).first() for frame in stores]
    return sum(row[0] for row in sizes if row), sum(row[1] or 0 for row in sizes if row)


def _size(frame: DataFrame) -> Any:
    """Give the bytes of a value; other columns than texts and bytes have eight."""
    name = next(one for one in frame.columns if one in ("value", "user_map_value"))
    value = frame.schema[name].dataType
    fields = value.fields if isinstance(value, T.StructType) else []
    varies = [field.name for field in fields if isinstance(field.dataType, T.BinaryType | T.StringType)]
    sizes = [F.coalesce(F.octet_length(F.col(name)[field]), F.lit(0)) for field in varies]
    return reduce(lambda a, b: a + b, sizes, F.lit(8 * (len(fields) - len(varies))))


def _query(spark: SparkSession, source: Path, setting: Setting) -> dict[str, Any]:
    """Write the query with the size of its stream, so that nobody samples."""
    events = spark.readStream.schema("ts timestamp, user bigint, country string").option("maxFilesPerTrigger", 1)
    df = events.parquet(str(source / "events"))
    return {
        "df": df,
        "time": "ts",
        "by": "country",
        "windows": windows(),
        "aggregates": [mt.count_distinct("user")],
        "statistics": setting.statistics,
        "watermark": WATERMARK,
    }


def _median(runs: list[Row]) -> Row:
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
