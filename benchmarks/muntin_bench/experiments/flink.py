"""Beside Flink SQL: the same windows over the same events, on the same cores; rows are compared."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.errors import UnsupportedError
from muntin.window import Window
from muntin_bench.experiments import stream
from muntin_bench.experiments.spark import SECOND, Progress
from muntin_bench.experiments.stream import BATCHES, Setting, hopping, stream_files, tumbling, write_file
from muntin_bench.record import Row

JOB = Path(__file__).with_name("flink_job.py")
DELAY = 60
"""Seconds of the watermark's delay, in both."""
EVERY = "10 s"
"""How often Flink makes a checkpoint. Spark makes one with every micro-batch."""
KEPT = {"execution.checkpointing.interval": EVERY, "execution.checkpointing.mode": "EXACTLY_ONCE"}
STATES: Mapping[str, Mapping[str, str]] = {
    "heap": {"state.backend.type": "hashmap"},
    "heap, checkpoints": {"state.backend.type": "hashmap", **KEPT},
    "RocksDB, checkpoints": {"state.backend.type": "rocksdb", **KEPT},
}
"""Where Flink keeps its state, and whether it makes checkpoints of it."""
SCHEMA = "size int, until bigint, key int, low double, total double, n bigint"
"""What Flink's rows have: size and end of a window instance in seconds, its key, and the aggregates."""
READERS = 2
"""Tasks of Flink that read, each a file of its own."""
TOLERANCE = 1e-9
"""Sums of floats in another order differ by no more than this part of them."""


@dataclass(frozen=True, slots=True)
class Flink:
    """An environment with PyFlink and the jars that its jobs need, as tools/flink makes it."""

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / ".ready").exists():
            raise UnsupportedError(
                f"there is no Flink in {self.folder}. In a checkout of Muntin, tools/flink installs it there, or says "
                "why it cannot."
            )

    @property
    def python(self) -> Path:
        """The interpreter that has PyFlink."""
        return self.folder / "bin/python"

    def request(self, windows: tuple[Window, ...], state: str, place: Path, **asked: Any) -> str:
        """Write the line that asks Flink for windows; its checkpoints go to a place."""
        kept = {"execution.checkpointing.dir": f"file://{place}/checkpoints"} if "checkpoints" in state else {}
        asked = {
            "jars": sorted(map(str, (self.folder / "jars").glob("*.jar"))),
            "windows": [[window.period[0] // SECOND, window.period[1] // SECOND] for window in windows],
            "watermark": DELAY,
            "settings": {**STATES[state], **kept},
            **asked,
        }
        return json.dumps(asked) + "\n"

    @contextmanager
    def jobs(self, log: Path) -> Iterator[subprocess.Popen[str]]:
        """Start the process that runs jobs, and end it when nobody needs it any longer."""
        with log.open("w") as errors:
            process = subprocess.Popen(
                [str(self.python), str(JOB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


@dataclass(frozen=True, slots=True)
class Beside:
    """Both engines, ready to run, and a place for what they write."""

    spark: SparkSession
    flink: Flink
    jobs: subprocess.Popen[str]
    place: Path

    def flink_run(self, setting: Setting, files: Path, state: str, sink: Mapping[str, str]) -> Row:
        """Let Flink read all events; give its seconds and its version."""
        with TemporaryDirectory(dir=self.place, ignore_cleanup_errors=True) as kept:
            source = _source(halves(self.spark, files))
            request = self.flink.request(setting.windows, state, Path(kept), source=source, sink=sink)
            return answer(self.jobs, request, self.place / "log")

    def seconds(self, name: str, setting: Setting, files: Path) -> float:
        """Run one contender over all files and drop the rows."""
        if name == "muntin":
            return float(stream.run(self.spark, files, setting, "auto")["seconds"])
        return float(self.flink_run(setting, files, name, {"connector": "blackhole"})["seconds"])

    def compared(self, setting: Setting, files: Path) -> Row:
        """Let both write their rows, and count those that differ. Both are warm after it."""
        with TemporaryDirectory(dir=self.place, ignore_cleanup_errors=True) as folder:
            sink = {"connector": "filesystem", "path": f"file://{folder}/flink", "format": "csv"}
            version = self.flink_run(setting, files, "heap", sink)["flink"]
            theirs = self.spark.read.schema(SCHEMA).csv(f"{folder}/flink").cache()
            ours = self._written(setting, files, Path(folder)).cache()
            (last,) = self.spark.read.parquet(str(files / "events")).agg(F.unix_micros(F.max("ts"))).first() or (0,)
            closed = theirs.where(F.col("until") * SECOND <= F.lit(last - DELAY * SECOND))
            counts = {"flink": version, "rows": ours.count(), "differ": differences(ours, closed)}
            theirs.unpersist()
            ours.unpersist()
            return counts

    def _written(self, setting: Setting, files: Path, folder: Path) -> DataFrame:
        """Run Muntin's query with a sink of files, and give the rows as Flink writes them."""
        events = self.spark.readStream.schema("ts timestamp, key int, v double").option("maxFilesPerTrigger", 1)
        rows = mt.aggregate(
            events.parquet(str(files / "events")),
            time="ts",
            by="key",
            windows=list(setting.windows),
            aggregates=[mt.min("v").alias("low"), mt.sum("v").alias("total"), mt.count().alias("n")],
            statistics=setting.statistics,
            watermark=setting.watermark,
        )
        writer = rows.writeStream.option("checkpointLocation", str(folder / "state")).trigger(availableNow=True)
        writer.start(str(folder / "muntin"), "parquet").awaitTermination()
        size = F.unix_seconds("window.end") - F.unix_seconds("window.start")
        until = F.unix_seconds("window.end").alias("until")
        written = self.spark.read.parquet(str(folder / "muntin"))
        return written.select(size.cast("int").alias("size"), until, "key", "low", "total", "n")


def settings(events: int) -> Iterator[Setting]:
    """Yield dense streams (100 events of a key in the shortest window) and sparse ones (6)."""
    for per_slice, kind in ((100, "dense"), (6, "sparse")):
        yield Setting(f"{kind}, 20 tumbling", tumbling(20), events, per_slice, 100)
        yield Setting(f"{kind}, 5 hopping, range 6 slides", hopping(5, 6), events // 2, per_slice, 100)


def beside_flink(
    folder: Path, flink_folder: Path, rounds: int, progress: Progress, events: int = 3_000_000
) -> Iterator[Row]:
    """Yield the seconds of Muntin and of Flink with each kind of state, and whether their rows are the same."""
    flink = Flink(flink_folder)
    with TemporaryDirectory(ignore_cleanup_errors=True) as place, flink.jobs(Path(place) / "log") as jobs:
        beside = Beside(stream.stream_session(), flink, jobs, Path(place))
        warm = Setting("warm-up", tumbling(3), max(BATCHES, events // 10), 100, 100)
        for name in ("muntin", *STATES):  # nobody pays for what is loaded only once
            beside.seconds(name, warm, stream_files(beside.spark, folder, warm))
        for setting in settings(events):
            files = stream_files(beside.spark, folder, setting)
            compared = beside.compared(setting, files)
            runs: dict[str, list[float]] = {name: [] for name in ("muntin", *STATES)}
            for _ in range(rounds):
                for name, times in runs.items():
                    times.append(round(beside.seconds(name, setting, files), 2))
            seconds = {name: round(median(times), 2) for name, times in runs.items()}
            progress(f"{setting.name}: " + ", ".join(f"{name} {each:.1f} s" for name, each in seconds.items()))
            yield {
                "setting": setting.name,
                "windows": len(setting.windows),
                "events": setting.events,
                "per_slice": setting.per_slice,
                "flink": compared["flink"],
                "seconds": seconds,
                "runs": runs,
                "compared_rows": compared["rows"],
                "differ": compared["differ"],
            }


def answer(jobs: subprocess.Popen[str], request: str, log: Path) -> Row:
    """Ask for a job, and wait for the line that tells its seconds."""
    assert jobs.stdin is not None  # both are pipes
    assert jobs.stdout is not None
    jobs.stdin.write(request)
    jobs.stdin.flush()
    for line in jobs.stdout:
        if line.startswith("{"):  # Flink prints lines of its own, too
            told: Row = json.loads(line)
            return told
    raise UnsupportedError(f"Flink ended with {jobs.wait()}: {log.read_text()[-2000:]}")


def halves(spark: SparkSession, files: Path) -> Path:
    """Write, once, a file in order of time for each of Flink's readers.

    Flink gives files to its readers in no order. What a reader finds in a file older than the last is late, and goes.
    """
    path = files / "halves"
    if (path / "done").exists():
        return path
    shutil.rmtree(path, ignore_errors=True)
    events = spark.read.parquet(str(files / "events"))
    for number in range(READERS):
        half = events.where(F.col("key") % READERS == number)
        write_file(half.coalesce(1).sortWithinPartitions("ts"), path, number)
    (path / "done").touch()
    return path


def _source(files: Path) -> dict[str, str]:
    """Name files as Flink's table of them does."""
    return {
        "connector": "filesystem",
        "path": f"file://{files / 'events'}",
        "format": "parquet",
        "parquet.utc-timezone": "true",
    }


def differences(one: DataFrame, other: DataFrame) -> int:
    """Count the instances that only one of both has, has twice, or that differ in a value."""
    keys = ["size", "until", "key"]
    both = one.alias("a").join(other.alias("b"), keys, "full")
    close = F.abs(F.col("a.total") - F.col("b.total")) <= TOLERANCE * (1 + F.abs(F.col("b.total")))
    same = (F.col("a.n") == F.col("b.n")) & (F.abs(F.col("a.low") - F.col("b.low")) <= TOLERANCE) & close
    twice = sum(each.count() - each.select(*keys).distinct().count() for each in (one, other))
    return both.where(~F.coalesce(same, F.lit(False))).count() + twice
