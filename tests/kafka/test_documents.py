"""What is written for people runs: docs/kafka.md block by block in an empty folder, and the example.

`pytest tests/kafka/test_documents.py -m kafka --long --golden` writes below the page's blocks what they print.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from tests.documents import ROOT
from tests.kafka.reader import follow, patient, run
from tests.kafka.topics import Topic
from tests.spark.cases import assert_same, plain_spark


@pytest.mark.long
@pytest.mark.usefixtures("jars")
def test_the_page_runs_from_an_empty_folder(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = follow(ROOT / "docs/kafka.md", tmp_path, golden=request.config.getoption("--golden"))
    assert list((folder / "out").rglob("*.parquet")), "muntin run has written nothing"


def test_the_example_gives_the_rows_of_plain_spark(topic: Topic, jars: str, tmp_path: Path) -> None:
    command = [sys.executable, "examples/kafka_dashboard.py", "--servers", topic.servers, "--jars", jars]
    printed = run([*command, "--folder", str(tmp_path), "--produce"], ROOT, patient())
    assert re.search(r"device-4\|.*\| +360\|", printed)
    from examples.kafka_dashboard import BOARD, COLUMNS, READINGS, WINDOWS
    from muntin import UpsertTable

    messages = Topic(topic.spark, topic.servers, READINGS).batch()
    readings = messages.select(F.from_json(F.col("value").cast("string"), COLUMNS).alias("r")).select("r.*")
    plain = [F.avg("temperature").alias("mean"), F.max("temperature").alias("high"), F.count(F.lit(1)).alias("count")]
    wanted = plain_spark(readings, "ts", ["device"], WINDOWS, plain).cache()
    assert wanted.count() > 600
    assert_same(UpsertTable(tmp_path / "current", by="device").read(topic.spark), wanted, ["device"], nullable=False)
    board = Topic(topic.spark, topic.servers, BOARD).batch()
    last = board.groupBy("key").agg(F.max_by("value", "offset").cast("string").alias("value"))
    rows = last.select(F.from_json("value", wanted.schema).alias("row")).select("row.*")
    assert_same(rows, wanted, ["device"], nullable=False)


def test_the_compose_file_is_valid() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode != 0:
        pytest.skip("docker compose is not installed")
    run([docker, "compose", "-f", str(ROOT / "examples/compose.yaml"), "config", "--quiet"], ROOT, os.environ)
