"""Beside Flink SQL: the same windows over the same files, on the same cores, and a check that the rows are the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.bench.experiments import stream
from muntin.bench.experiments.spark import SECOND, Progress
from muntin.bench.experiments.stream import BATCHES, Setting, hopping, stream_files, tumbling
from muntin.bench.record import Row
from muntin.errors import UnsupportedError

JOB = Path(__file__).with_name("flink_job.py")
DELAY = 60
"""Seconds of the watermark's delay, in both."""
EVERY = "10 s"
"""How often Flink makes a checkpoint. Spark makes one with every micro-batch."""
KEPT = {"execution.checkpointing.interval": EVERY, "execution.checkpointing.mode": "EXACTLY_ONCE"}
STATES: Mapping[str, Mapping[str, str]] = {
    "heap": {"state.backend.type": "hashmap"},
    "RocksDB, checkpoints": {"state.backend.type": "rocksdb", **KEPT},
}
"""Where Flink keeps its state."""
TOLERANCE = 1e-9
"""Sums of floats in another order differ by no more than this part of them."""


@dataclass(frozen=True, slots=True)
class Flink:
    """An environment with PyFlink and the jars that its jobs need, as tools/flink makes it."""

    folder: Path

    def __post_init__(self) -> None:
        if not self.jars:
            raise UnsupportedError(
                f"there is no Flink in {self.folder}. In a checkout of Muntin, tools/flink installs it there."
            )

    @property
    def python(self) -> Path:
        """The interpreter that has PyFlink."""
        return self.folder / "bin/python"

    @property
    def jars(self) -> list[str]:
        """The formats and connectors that PyFlink does not bring."""
        return sorted(map(str, (self.folder / "jars").glob("*.jar")))

    def command(self, setting: Setting, **asked: Any) -> list[str]:
        """Write the command that asks Flink for the windows of a setting."""
        windows = [[window.period[0] // SECOND, window.period[1] // SECOND] for window in setting.windows]
        asked = {"jars": self.jars, "windows": windows, "watermark": DELAY, **asked}
        return [str(self.python), str(JOB), json.dumps(asked)]

    def seconds(self, setting: Setting, **asked: Any) -> list[float]:
        """Run a job, and give the seconds of each of its sources."""
        done = subprocess.run(self.command(setting, **asked), capture_output=True, text=True)
        if done.returncode != 0:
            raise UnsupportedError(f"Flink ended with {done.returncode}: {done.stderr[-2000:]}")
        times: list[float] = json.loads(done.stdout.splitlines()[-1])
        return times


def settings(events: int) -> Iterator[Setting]:
    """Yield dense streams (100 events of a key in the shortest window) and sparse ones (6)."""
    for per_slice, kind in ((100, "dense"), (6, "sparse")):
        yield Setting(f"{kind}, 20 tumbling", tumbling(20), events, per_slice, 100)
        yield Setting(f"{kind}, 5 hopping, range 6 slides", hopping(5, 6), events // 2, per_slice, 100)


def beside_flink(
    folder: Path, flink_folder: Path, rounds: int, progress: Progress, events: int = 2_000_000
) -> Iterator[Row]:
    """Yield the seconds of Muntin and of Flink with each kind of state, and whether their rows are the same."""
    flink = Flink(flink_folder)
    spark = stream.stream_session()
    warm = Setting("warm-up", tumbling(3), max(BATCHES, events // 10), 100, 100)
    warm_files = stream_files(spark, folder, warm)
    for _ in range(2):  # nobody pays for what is compiled and started only once
        stream.run(spark, warm_files, warm, "auto")
    for setting in settings(events):
        files = stream_files(spark, folder, setting)
        ours = [stream.run(spark, files, setting, "auto")["seconds"] for _ in range(rounds)]
        theirs = {name: _flink_runs(flink, setting, [warm_files, *([files] * rounds)], name) for name in STATES}
        contenders = {"muntin": ours, **{name: times[1:] for name, times in theirs.items()}}
        seconds = {name: round(median(times), 2) for name, times in contenders.items()}
        progress(f"{setting.name}: " + ", ".join(f"{name} {each:.1f} s" for name, each in seconds.items()))
        yield {
            "setting": setting.name,
            "windows": len(setting.windows),
            "events": setting.events,
            "per_slice": setting.per_slice,
            "seconds": seconds,
            "runs": {name: [round(each, 2) for each in times] for name, times in contenders.items()},
            **_checked(spark, folder, flink, setting),
        }


def _flink_runs(flink: Flink, setting: Setting, files: Iterable[Path], state: str) -> list[float]:
    """Let Flink read files, one job after the other in one process, and drop the rows."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        kept = {"execution.checkpointing.dir": f"file://{place}"} if "checkpoints" in state else {}
        return flink.seconds(
            setting,
            settings={**STATES[state], **kept},
            sources=[_source(path) for path in files],
            sink={"connector": "blackhole"},
        )


def _source(files: Path) -> dict[str, str]:
    """Name the files of a stream as Flink's table of them does."""
    return {
        "connector": "filesystem",
        "path": f"file://{files / 'events'}",
        "format": "parquet",
        "parquet.utc-timezone": "true",
    }


def _checked(spark: SparkSession, folder: Path, flink: Flink, setting: Setting) -> Row:
    """Compare the rows of both, over a tenth of the events, with those of plain Spark in batch."""
    tenth = Setting(setting.name, setting.windows, max(BATCHES, setting.events // 10), setting.per_slice, setting.keys)
    files = stream_files(spark, folder, tenth)
    events = spark.read.parquet(str(files / "events"))
    asked: dict[str, Any] = {
        "time": "ts",
        "by": "key",
        "windows": list(setting.windows),
        "aggregates": [mt.min("v").alias("low"), mt.sum("v").alias("total"), mt.count().alias("n")],
    }
    wanted = _by_second(mt.aggregate(events, **asked, strategy="independent")).cache()
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        sink = {"connector": "filesystem", "path": f"file://{place}/flink", "format": "csv"}
        flink.seconds(tenth, sources=[_source(files)], sink=sink)
        theirs = spark.read.schema(wanted.schema).csv(f"{place}/flink")
        arriving = spark.readStream.schema(events.schema).option("maxFilesPerTrigger", 1).parquet(str(files / "events"))
        writer = mt.aggregate(arriving, **asked, watermark=f"{DELAY} seconds").writeStream.trigger(availableNow=True)
        writer.option("checkpointLocation", f"{place}/state").start(f"{place}/muntin", "parquet").awaitTermination()
        ours = _by_second(spark.read.parquet(f"{place}/muntin"))
        (last,) = events.agg(F.floor(F.unix_micros(F.max("ts")) / SECOND)).first() or (0,)
        closed = wanted.where(F.col("until") <= F.lit(last - DELAY))
        return {
            "checked_events": tenth.events,
            "checked_rows": wanted.count(),
            "flink_differs": _differences(theirs, wanted),
            "muntin_differs": _differences(ours, closed),
        }


def _by_second(rows: DataFrame) -> DataFrame:
    """Name a window instance by its length and its end in seconds."""
    size = F.unix_seconds("window.end") - F.unix_seconds("window.start")
    until = F.unix_seconds("window.end")
    return rows.select(size.cast("int").alias("size"), until.alias("until"), "key", "low", "total", "n")


def _differences(given: DataFrame, wanted: DataFrame) -> int:
    """Count the instances that only one of both has, has twice, or that differ in a value."""
    keys = ["size", "until", "key"]
    both = given.alias("a").join(wanted.alias("b"), keys, "full")
    close = F.abs(F.col("a.total") - F.col("b.total")) <= TOLERANCE * (1 + F.abs(F.col("b.total")))
    same = (F.col("a.n") == F.col("b.n")) & (F.abs(F.col("a.low") - F.col("b.low")) <= TOLERANCE) & close
    twice = given.count() - given.select(*keys).distinct().count()
    return both.where(~F.coalesce(same, F.lit(False))).count() + twice
