"""What is written for people runs: docs/kafka.md block by block in an empty folder, and the example.

`pytest tests/kafka/test_documents.py -m kafka --long --golden` writes below the page's blocks what they print.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from tests.kafka.topics import Topic
from tests.spark.cases import assert_same, plain_spark
from tests.spark.patience import LONG, PATIENT, TOO_SLOW
from tools.kafka.broker import free_port

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/kafka.md"
BLOCK = re.compile(r"```(?P<language>python|sh)\n(?P<code>.*?)```\n(?:\n```\n(?P<output>.*?)```\n)?", re.DOTALL)
GIVEN = ("pip install", "docker compose")
"""Steps that the tests have done: Muntin is installed, and a broker runs."""
END = "<<end of block>>"
ATTEMPTS = 3


def environment() -> dict[str, str]:
    """Let processes find this Python's commands, and Spark be patient with a busy machine."""
    patience = " ".join(f"--conf {key}={value}" for key, value in PATIENT.items())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYSPARK_SUBMIT_ARGS": f"{patience} pyspark-shell"}


def run(command: list[str], folder: Path) -> str:
    """Run a process to its end, and give what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONG, env=environment())
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@contextmanager
def make_kafka(folder: Path) -> Iterator[str]:
    """Run the broker that `make kafka` runs, until Ctrl-C; give its address."""
    port = free_port()
    command = [sys.executable, "-m", "tools.kafka", "run", "--port", str(port), "--folder", str(folder / "broker")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any(f"Kafka listens on 127.0.0.1:{port}" in line for line in process.stdout)
        yield f"127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0


def page_run(folder: Path, blocks: list[tuple[str, str]]) -> list[str]:
    """Run the blocks of the page, those of Python in one process, and give what each of these prints."""
    with make_kafka(folder) as servers:
        shells = [code.replace("localhost:9092", servers) for language, code in blocks if language == "sh"]
        pythons = [code.replace("localhost:9092", servers) for language, code in blocks if language == "python"]
        run(["bash", "-ec", shells[0]], folder)
        script = folder / "page.py"
        script.write_text(f"print({END!r})\n".join([*pythons, ""]), encoding="utf-8")
        printed = run([sys.executable, script.name], folder).split(f"{END}\n")
        for code in shells[1:]:
            run(["bash", "-ec", code], folder)
    return [text.rstrip() + "\n" for text in printed[:-1]]


@pytest.mark.long
@pytest.mark.usefixtures("jars")
def test_the_page_runs_from_an_empty_folder(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = [one for one in BLOCK.finditer(text) if not any(step in one["code"] for step in GIVEN)]
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        try:
            printed = page_run(folder, [(one["language"], one["code"]) for one in found])
            break
        except AssertionError as error:
            if TOO_SLOW not in str(error):
                raise
    highs = list((folder / "out").rglob("*.parquet"))
    assert highs, "muntin run has written nothing"
    pythons = [one for one in found if one["language"] == "python"]
    if request.config.getoption("--golden"):
        for one, now in zip(pythons, printed, strict=True):
            if one["output"] is not None:
                text = text.replace(one[0], f"```python\n{one['code']}```\n\n```\n{now}```\n")
        PAGE.write_text(text, encoding="utf-8")
        return
    for one, now in zip(pythons, printed, strict=True):
        assert now == (one["output"] or "\n"), one["code"]


def test_the_example_gives_the_rows_of_plain_spark(topic: Topic, jars: str, tmp_path: Path) -> None:
    command = [sys.executable, "examples/kafka_dashboard.py", "--servers", topic.servers, "--jars", jars]
    printed = run([*command, "--folder", str(tmp_path), "--produce"], ROOT)
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
    run([docker, "compose", "-f", str(ROOT / "examples/compose.yaml"), "config", "--quiet"], ROOT)
