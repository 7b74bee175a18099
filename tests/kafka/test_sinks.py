"""Rows to topics and to tables: after a kill, and where a micro-batch comes twice, each window instance counts once."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import muntin as mt
from tests.kafka.topics import Topic, as_json, expected, last_event, some_events
from tests.spark.cases import assert_same
from tests.spark.patience import LONG
from tests.spark.streams import Event

ROOT = Path(__file__).parents[2]
COUNT = 3000


@pytest.fixture
def written(topic: Topic) -> list[Event]:
    """Write events, and one that closes all windows, to the topic."""
    rows = some_events(topic.name, COUNT)
    topic.write([*rows, last_event(rows)], as_json())
    return rows


def started(topic: Topic, folder: Path, jars: str) -> subprocess.Popen[bytes]:
    """Start the job in a process group of its own, so that a kill takes its JVM and workers with it."""
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.kafka.job", topic.servers, topic.name, str(folder), jars],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def kill(job: subprocess.Popen[bytes]) -> None:
    os.killpg(job.pid, signal.SIGKILL)
    job.wait(LONG)


def told(folder: Path) -> str:
    """Give what the job says of its failure."""
    return "\n".join(re.findall(r"^.*(?:Error|Exception).*$", (folder / "log").read_text(), re.MULTILINE)[-20:])


def finish(topic: Topic, folder: Path, jars: str) -> None:
    job = started(topic, folder, jars)
    try:
        assert job.wait(LONG) == 0, told(folder)
    finally:
        if job.poll() is None:
            kill(job)


def until_batch(folder: Path, number: int, job: subprocess.Popen[bytes]) -> None:
    """Wait until any query of the job has begun that micro-batch."""
    deadline = time.monotonic() + LONG
    while not any(folder.glob(f"checkpoints/*/offsets/{number}")) and job.poll() is None:
        assert time.monotonic() < deadline, told(folder)
        time.sleep(0.02)


def messages(topic: Topic) -> DataFrame:
    """Read the messages that the job has written to its topic."""
    return Topic(topic.spark, topic.servers, f"{topic.name}-rows").batch()


def last_of_every_key(topic: Topic, like: DataFrame) -> DataFrame:
    """Read a topic as a table: of every key, the message that was written last."""
    last = messages(topic).groupBy("key").agg(F.max_by("value", "offset").cast("string").alias("value"))
    return last.select(F.from_json("value", like.schema).alias("row")).select("row.*")


def check(topic: Topic, folder: Path, rows: list[Event]) -> None:
    """Compare all three outputs with plain Spark."""
    closed = expected(topic.spark, rows).cache()
    assert_same(topic.spark.read.parquet(str(folder / "rows")), closed, ["k"], nullable=False)
    assert_same(last_of_every_key(topic, closed), closed, ["k"], nullable=False)
    everything = expected(topic.spark, [*rows, last_event(rows)])
    assert_same(mt.UpsertTable(folder / "current", by="k").read(topic.spark), everything, ["k"], nullable=False)


def test_killed_and_restarted(topic: Topic, written: list[Event], jars: str, tmp_path: Path) -> None:
    job = started(topic, tmp_path, jars)
    until_batch(tmp_path, 3, job)
    time.sleep(random.uniform(0, 0.6))
    kill(job)
    finish(topic, tmp_path, jars)
    check(topic, tmp_path, written)

    # Kafka's sink writes at least once: a micro-batch whose commit is lost is written again, with the same keys
    before = messages(topic).count()
    for commits in (tmp_path / "checkpoints").glob("*/commits"):
        last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
        (commits / f"{last}").unlink()
        (commits / f".{last}.crc").unlink()
    finish(topic, tmp_path, jars)
    assert messages(topic).count() > before
    check(topic, tmp_path, written)
