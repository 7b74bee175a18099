"""Experiments with Structured Streaming: throughput, state and micro-batch times against plain Spark."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.choices import AnyStrategy
from muntin.plan.statistics import Statistics
from muntin.window import Window
from muntin_bench.experiments.spark import SECOND, Progress
from muntin_bench.record import Row

SLICE = 600
"""Seconds of the shortest window, which all others are multiples of."""
BATCHES = 10
WATERMARK = "1 minute"
CONTENDERS = ("plain", "separate", "expand", "chain", "columnar", "auto")


@dataclass(frozen=True, slots=True)
class Setting:
    """One stream and the windows that are asked of it."""

    name: str
    windows: tuple[Window, ...]
    events: int
    per_slice: int
    """Events of a key in the shortest window."""
    keys: int
    contenders: tuple[str, ...] = CONTENDERS
    watermark: str = WATERMARK

    @property
    def statistics(self) -> Statistics:
        """The true size of the stream and of its micro-batches."""
        span = self.events * SLICE * SECOND // (self.per_slice * self.keys)
        return Statistics(self.events, self.keys, span, batch=self.events // BATCHES)


def tumbling(count: int) -> tuple[Window, ...]:
    """Give windows of one, two, three … slices."""
    return tuple(mt.tumbling(f"{SLICE * number} s") for number in range(1, count + 1))


def hopping(count: int, overlap: int) -> tuple[Window, ...]:
    """Give windows that slide by one, two, three … slices, with so many slides in a range."""
    slides = [SLICE * number for number in range(1, count + 1)]
    return tuple(mt.hopping(f"{overlap * slide} s", f"{slide} s") for slide in slides)


def settings(events: int) -> Iterator[Setting]:
    """Yield dense streams (100 events in a slice of a key) and sparse ones (6)."""
    for per_slice, kind in ((100, "dense"), (6, "sparse")):
        for count in (5, 10, 20):
            yield Setting(f"{kind}, {count} tumbling", tumbling(count), events, per_slice, 100)
        yield Setting(f"{kind}, 5 hopping, range 6 slides", hopping(5, 6), events // 2, per_slice, 100)
        few = ("plain", "chain", "columnar", "auto")
        yield Setting(f"{kind}, 2 hopping, range 60 slides", hopping(2, 60), events // 10, per_slice, 100, few)
        yield Setting(f"{kind}, 10 tumbling, 10,000 keys", tumbling(10), events, per_slice, 10_000, few)


def streams(
    folder: Path, rounds: int, progress: Progress, events: int = 2_000_000, names: Iterable[str] = ()
) -> Iterator[Row]:
    """Yield throughput, state and micro-batch times of every contender on every stream."""
    spark = stream_session()
    wanted = set(names)
    warm = Setting("warm-up", tumbling(3), max(BATCHES, events // 10), 100, 100)
    for _ in range(2):  # nobody pays for what is compiled and started only once
        for name in ("plain", "expand", "chain", "columnar"):
            run(spark, stream_files(spark, folder, warm), warm, name)
    for setting in settings(events):
        if wanted and setting.name not in wanted:
            continue
        source = stream_files(spark, folder, setting)
        runs: dict[str, list[Row]] = {name: [] for name in setting.contenders}
        for _ in range(rounds):
            for name in setting.contenders:
                runs[name].append(run(spark, source, setting, name))
        contenders = {name: _median_run(each) for name, each in runs.items()}
        progress(f"{setting.name}: " + ", ".join(f"{name} {row['seconds']:.1f} s" for name, row in contenders.items()))
        yield {
            "setting": setting.name,
            "windows": len(setting.windows),
            "events": setting.events,
            "per_slice": setting.per_slice,
            "keys": setting.keys,
            "contenders": contenders,
            "estimates": _estimates(spark, source, setting),
        }


def stream_session() -> SparkSession:
    """Give the session that all streams run in."""
    spark: SparkSession = mt.session(app="muntin bench", config={"spark.driver.memory": "8g"})
    return spark


def stream_files(spark: SparkSession, folder: Path, setting: Setting) -> Path:
    """Write, once, the events of a stream in one file for each micro-batch, in order of time."""
    path = folder / f"stream_{setting.events}_{setting.per_slice}_{setting.keys}"
    if (path / "done").exists():
        return path
    shutil.rmtree(path, ignore_errors=True)
    per_second = setting.per_slice * setting.keys / SLICE
    share = setting.events // BATCHES
    for number in range(BATCHES):
        ids = spark.range(number * share, (number + 1) * share, 1, 1)
        micros = (F.col("id") * F.lit(SECOND / per_second)).cast("long") + F.lit(1_700_000_400 * SECOND)
        key = (F.rand(number) * F.lit(setting.keys)).cast("int")
        made = ids.select(F.timestamp_micros(micros).alias("ts"), key.alias("key"), F.randn(number).alias("v"))
        write_file(made, path, number)
    (path / "done").touch()
    return path


def write_file(rows: DataFrame, path: Path, number: int) -> None:
    """Write rows of one partition as the file of a micro-batch."""
    parts, events = path / "parts" / f"{number:03}", path / "events"
    rows.write.parquet(str(parts))
    (part,) = parts.glob("*.parquet")
    events.mkdir(parents=True, exist_ok=True)
    part.rename(events / f"{number:03}.parquet")


def run(spark: SparkSession, source: Path, setting: Setting, name: str) -> Row:
    """Run one contender over all files, from an empty checkpoint, and drop the rows."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:  # Spark may be writing there still
        start = time.perf_counter()
        if name == "separate":
            queries = [
                _start(_asked(spark, source, setting, [window], "independent"), Path(place) / str(number))
                for number, window in enumerate(setting.windows)
            ]
        else:
            strategy: Any = "independent" if name == "plain" else name
            queries = [_start(_asked(spark, source, setting, setting.windows, strategy), Path(place) / "0")]
        for query in queries:
            query.awaitTermination()
        seconds = time.perf_counter() - start
        size = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
        return _measured(setting, seconds, size, [query.recentProgress for query in queries])


def _measured(setting: Setting, seconds: float, size: int, reports: list[Any]) -> Row:
    """Put together what the queries of one contender report: each keeps its own state, so states add up."""
    durations = [p["durationMs"]["triggerExecution"] for each in reports for p in each if p["numInputRows"]]
    cuts = quantiles(durations, n=100) if len(durations) > 1 else durations * 99
    return {
        "seconds": round(seconds, 3),
        "events_per_second": round(setting.events / seconds),
        "state_rows": sum(_most(each, "numRowsTotal") for each in reports),
        "state_bytes": sum(_most(each, "memoryUsedBytes") for each in reports),
        "checkpoint_bytes": size,
        "batch_p50_ms": round(median(durations)),
        "batch_p99_ms": round(cuts[98]),
    }


def _most(progress: list[Any], measure: str) -> int:
    """Give the most that all state operators of a query had together after one of its micro-batches."""
    return max((sum(op[measure] for op in p["stateOperators"]) for p in progress), default=0)


def _asked(
    spark: SparkSession, source: Path, setting: Setting, windows: Iterable[Window], strategy: AnyStrategy
) -> DataFrame:
    """Ask for windows."""
    out: DataFrame = mt.aggregate(**_query(spark, source, setting, windows), strategy=strategy)
    return out


def _estimates(spark: SparkSession, source: Path, setting: Setting) -> Row:
    """Give the estimated core-seconds of every shape, as auto sees them."""
    plan = mt.explain(**_query(spark, source, setting, setting.windows))
    costs = {"plain" if name == "independent" else name: cost for name, cost in plan.alternatives}
    return {name: round(cost / 1e6, 3) for name, cost in costs.items()}


def _query(spark: SparkSession, source: Path, setting: Setting, windows: Iterable[Window]) -> dict[str, Any]:
    """Write a query with the size of its stream, so that all ask for the same and nobody samples."""
    events = spark.readStream.schema("ts timestamp, key int, v double").option("maxFilesPerTrigger", 1)
    return {
        "df": events.parquet(str(source / "events")),
        "time": "ts",
        "by": "key",
        "windows": list(windows),
        "aggregates": [mt.min("v"), mt.sum("v"), mt.count()],
        "statistics": setting.statistics,
        "watermark": setting.watermark,
    }


def _start(out: DataFrame, place: Path) -> Any:
    writer = out.writeStream.format("noop").outputMode("append").option("checkpointLocation", str(place))
    return writer.trigger(availableNow=True).start()


def _median_run(runs: list[Row]) -> Row:
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
