"""Streams that are killed in the middle of micro-batches: nothing is lost, and nothing comes twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.patience import LONG
from tests.spark.stream_job import ASKED, FRAMED
from tests.spark.streams import BEGIN, Event, Replay, by_instance, events

ROOT = Path(__file__).parents[2]
FILES, PER_FILE = 5, 450
LONGEST = timedelta(minutes=5)


@pytest.fixture
def arrived(spark: SparkSession, tmp_path: Path) -> Replay:
    """Give events in files, out of order within the watermark, and one at the end that closes all windows."""
    r = random.Random(tmp_path.name)
    rows: list[Event] = [
        (number * 0.2 - r.uniform(0, 12) + 20, r.choice(["a", "b", "c", None]), r.randint(-99, 99))
        for number in range(FILES * PER_FILE)
    ]
    files = [events(*rows[start : start + PER_FILE]) for start in range(0, len(rows), PER_FILE)]
    last = FILES * PER_FILE * 0.2 + LONGEST.total_seconds()
    return Replay(spark, tmp_path).add(*files, events((last, "a", 0)))


def started(folder: Path, strategy: str, master: str = "local[2]") -> subprocess.Popen[str]:
    """Start the job in a process group of its own, so that a kill takes its JVM and workers with it."""
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.stream_job", str(folder), strategy, master],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )


def batches(folder: Path) -> int:
    """Count the micro-batches that have been begun."""
    return len([path for path in (folder / "checkpoint/offsets").glob("*") if path.name.isdigit()])


def until_batch(folder: Path, number: int, job: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + LONG
    while batches(folder) < number and job.poll() is None:
        assert time.monotonic() < deadline, (folder / "log").read_text()[-3000:]
        time.sleep(0.02)


def kill(job: subprocess.Popen[str]) -> None:
    os.killpg(job.pid, signal.SIGKILL)
    job.wait(LONG)


def finish(folder: Path, strategy: str, master: str = "local[2]") -> None:
    job = started(folder, strategy, master)
    try:
        assert job.wait(LONG) == 0, (folder / "log").read_text()[-3000:]
    finally:
        if job.poll() is None:
            kill(job)


def same_as_batch(replay: Replay) -> None:
    """Compare what was written with the batch rows, but those of the last event, whose windows stay open."""
    wanted = by_instance(mt.aggregate(replay.batch, **ASKED, strategy="independent").collect())
    last = FILES * PER_FILE * 0.2 + 60
    wanted = {name: row for name, row in wanted.items() if name[1] < last}
    given = replay.spark.read.parquet(str(replay.folder / "rows"))
    framed = F.col("window_id").isin(*(window.label for window in FRAMED))
    assert by_instance(given.where(~framed).drop("window_begin", "window_end").collect()) == wanted
    if given.where(framed).isEmpty():
        return
    before = F.col("window.end") < F.lit(BEGIN + timedelta(seconds=last))
    batch = mt.aggregate(replay.batch, **(ASKED | {"windows": FRAMED}), order_by="v").where(before)
    assert sorted(map(str, given.where(framed & before).collect())) == sorted(map(str, batch.collect()))


def kills(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--kills"))


@pytest.mark.parametrize("strategy", ["columnar", pytest.param("ordered", marks=pytest.mark.long), "chain", "expand"])
def test_killed_at_random_moments(arrived: Replay, strategy: str, pytestconfig: pytest.Config) -> None:
    if strategy in ("chain", "expand") and kills(pytestconfig) < 2:
        pytest.skip("Spark's own operators alone: only with --kills 2 or more")
    r = random.Random(str(arrived.folder))
    stops = sorted(r.sample(range(2, FILES), kills(pytestconfig)))
    for stop in stops:
        job = started(arrived.folder, strategy)
        until_batch(arrived.folder, stop, job)
        time.sleep(r.uniform(0, 0.6))
        kill(job)
    finish(arrived.folder, strategy)
    same_as_batch(arrived)


def executors(job: subprocess.Popen[str]) -> Iterator[int]:
    """Find the executors among the processes of a job, which have its process group or come from its JVM."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            same = os.getsid(int(process.name)) == os.getsid(job.pid)
        except (OSError, ProcessLookupError):
            continue
        if same and b"CoarseGrainedExecutorBackend" in command:
            yield int(process.name)


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["columnar", "chain"])
def test_an_executor_is_killed(arrived: Replay, strategy: str, pytestconfig: pytest.Config) -> None:
    if strategy != "columnar" and kills(pytestconfig) < 2:
        pytest.skip("Spark's own operators alone: only with --kills 2 or more")
    job = started(arrived.folder, strategy, "local-cluster[2,1,1024]")
    try:
        until_batch(arrived.folder, 4, job)
        victims = list(executors(job))
        assert len(victims) >= 2
        os.kill(victims[0], signal.SIGKILL)
        assert job.wait(LONG) == 0, (arrived.folder / "log").read_text()[-3000:]
    finally:
        if job.poll() is None:
            kill(job)
    same_as_batch(arrived)


@pytest.mark.long
def test_a_corrupt_file_is_sparks_own_error_and_the_query_goes_on_without_it(arrived: Replay) -> None:
    bad = arrived.files / "0003.parquet"
    good = bad.read_bytes()
    arrived.replace(bad, b"no parquet")
    job = started(arrived.folder, "columnar")
    assert job.wait(LONG) != 0
    assert "0003.parquet" in (arrived.folder / "log").read_text()
    arrived.replace(bad, good)
    finish(arrived.folder, "columnar")
    same_as_batch(arrived)


@pytest.mark.long
def test_killed_across_an_added_and_a_removed_window(arrived: Replay) -> None:
    """A window comes and one goes while a query is killed: what stays is complete, what comes starts whole."""
    registry = mt.WindowRegistry(arrived.folder / "windows")
    registry.add(mt.tumbling("20 s"), id="20s")
    registry.add(mt.tumbling("90 s"), id="long")
    job = started(arrived.folder, "auto")
    until_batch(arrived.folder, 3, job)
    registry.add(mt.hopping("1 min", "20 s"), id="1m/20s")
    registry.remove("long")
    kill(job)
    finish(arrived.folder, "auto")
    asked = ASKED | {"windows": [mt.tumbling("20 s", id="20s"), mt.hopping("1 min", "20 s", id="1m/20s")]}
    batch = by_instance(mt.aggregate(arrived.batch, **asked, strategy="independent").collect())
    given = by_instance(arrived.spark.read.parquet(str(arrived.folder / "rows")).collect())
    ids = {name[0] for name in given}
    assert {"20s", "1m/20s"} <= ids <= {"20s", "1m/20s", "long"}
    begin = min(name[1] for name in given if name[0] == "1m/20s")
    last = FILES * PER_FILE * 0.2 + 60
    wanted = {name: row for name, row in batch.items() if name[1] < last and (name[0] == "20s" or name[1] >= begin)}
    assert {name: row for name, row in given.items() if name[0] != "long"} == wanted
