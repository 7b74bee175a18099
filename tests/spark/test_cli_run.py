"""muntin run and muntin explain as processes: results, failures, and a stream that Ctrl-C stops."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from muntin.cli.queries.inputs import sources
from muntin.cli.queries.reading import frames, require
from muntin.cli.queries.running import TableSink
from muntin.cli.queries.writing import write
from muntin.errors import QueryError
from muntin.files import LocalFiles
from tests.spark.patience import LONG, PATIENT, PAUSES, TOO_SLOW

BEGIN = datetime(2024, 5, 1)
MINUTE = timedelta(minutes=1)

QUERIES = """
-- name: low
SELECT device, window.start AS since, min(v) AS low, count(*) AS n
FROM events GROUP BY device, window(ts, '1 minute');

-- name: ../all five
SELECT window, sum(v) AS total FROM events WHERE v > 10 GROUP BY window(ts, '5 minutes');
"""

COMMANDS = """
import json, sys
from muntin.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as end:
        for stream in (sys.stdout, sys.stderr):
            print(f"<<exit {end.code}>>", file=stream, flush=True)
"""
"""Several commands in one process, since Java starts slowly."""

Event = tuple[datetime, str, int]
Low = dict[tuple[str, datetime], tuple[int, int]]


def some_events(count: int, begin: datetime = BEGIN) -> list[Event]:
    r = random.Random(count)
    return [
        (begin + timedelta(seconds=r.randrange(1200)), r.choice(["a", "b", "c, d"]), r.randrange(100))
        for _ in range(count)
    ]


def write_csv(file: Path, events: Iterable[Event]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f".{file.name}")
    with hidden.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["ts", "device", "v"])
        writer.writerows((f"{ts:%Y-%m-%d %H:%M:%S}", device, v) for ts, device, v in events)
    hidden.rename(file)  # a stream sees whole files only


def lows(events: Iterable[Event]) -> Low:
    """Give the lowest value and the number of events by device and minute."""
    groups: dict[tuple[str, datetime], list[int]] = {}
    for ts, device, v in events:
        groups.setdefault((device, ts.replace(second=0)), []).append(v)
    return {group: (min(values), len(values)) for group, values in groups.items()}


def as_lows(rows: Iterable[dict[str, Any]]) -> Low:
    """Take result rows for the same."""
    return {(row["device"], row["since"].replace(tzinfo=None)): (row["low"], row["n"]) for row in rows}


def commands(
    folder: Path, *asked: tuple[str, ...], width: int = 80, pauses: tuple[int, ...] = PAUSES
) -> list[tuple[int, str, str]]:
    """Run commands one after the other, and give the exit code, the output and the errors of each.

    A command whose worker was too slow runs once more, after the others; what it printed before counts, too.
    """
    given = [list(arguments) for arguments in asked]
    run = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(given)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONG,
        env=environment(width),
        check=False,
    )
    # what a command printed, its exit code, what the next one printed, …
    outs, errs = (re.split(r"<<exit (\d+)>>\n", text) for text in (run.stdout, run.stderr))
    assert len(outs) == len(errs) == 2 * len(asked) + 1, run.stderr[-3000:]
    ended = list(zip(map(int, outs[1::2]), outs[:-1:2], errs[:-1:2], strict=True))
    for place, (_, out, err) in enumerate(ended):
        if TOO_SLOW in err and pauses:
            time.sleep(pauses[0])
            code, more, errors = commands(folder, asked[place], width=width, pauses=pauses[1:])[0]
            ended[place] = code, out + more, errors
    return ended


def environment(width: int = 80) -> dict[str, str]:
    return {**os.environ, "COLUMNS": str(width)}


def conf() -> list[str]:
    settings = PATIENT | {"spark.sql.shuffle.partitions": "2"}
    return [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "queries.sql").write_text(QUERIES, encoding="utf-8")
    return tmp_path


def test_results_are_written_printed_and_explained(work: Path) -> None:
    events = some_events(2000)
    write_csv(work / "events.csv", events)
    one = "SELECT device, window, count(*) AS n FROM events GROUP BY device, window(ts, '1 hour')"
    (work / "one.sql").write_text(one, encoding="utf-8")
    (work / "column.sql").write_text(one.replace("device", "devise"), encoding="utf-8")
    (work / "zero.sql").write_text(one.replace("count(*)", "sum(v DIV (v - v))"), encoding="utf-8")
    asked = ("--input", "events=events.csv", *conf())
    written, again, over, table, explained, column, zero, bug, unknown = commands(
        work,
        ("run", "queries.sql", *asked, "--output", "out", "--explain"),
        ("run", "queries.sql", *asked, "--output", "out"),
        ("run", "queries.sql", *asked, "--output", "out", "--overwrite", "--format", "csv", "-v"),
        ("run", "one.sql", *asked, "--rows", "2"),
        ("explain", "queries.sql", *asked, "--format", "json"),
        ("run", "column.sql", *asked, "--output", "never"),
        ("run", "zero.sql", *asked, "--output", "never"),
        ("run", "column.sql", *asked, "--debug"),
        ("explain", "one.sql", "--input", "event=events.csv", *conf()),
    )
    expected = lows(events)

    code, out, err = written
    assert code == 0, err
    assert err == ""
    assert f"{len(expected):,}" in out
    assert "plan" in out
    assert max(map(len, out.splitlines())) <= 80 or "--explain" in out
    assert again[0] == 2
    assert "Choose another --output, or replace it with --overwrite" in " ".join(again[2].split())
    assert over[0] == 0, over[2]
    assert "INFO muntin" in over[2]
    rows = ds.dataset(work / "out" / "low", format="csv").to_table().to_pylist()
    assert len(rows) == len(expected)
    assert as_lows(rows) == expected
    assert sorted(path.name for path in (work / "out").iterdir()) == ["all_five", "low"]

    code, out, err = table
    assert code == 0, err
    assert "2024-05-01 00:00 – 01:00" in out
    assert "… and more than these 2 rows" in out
    assert max(map(len, out.splitlines())) <= 80

    code, out, err = explained
    assert code == 0, err
    assert json.loads(out)

    code, out, err = column
    assert (code, out) == (2, "")
    assert "devise" in err
    assert "Traceback" not in err

    code, out, err = zero
    assert (code, out) == (1, "")
    assert "Error: Spark failed: " in err
    assert "ivision by zero" in err
    assert "Traceback" not in err
    assert not (work / "never").exists() or not list((work / "never").iterdir())

    assert bug[0] == 2
    assert "Traceback" in bug[2]

    assert unknown[0] == 2
    assert "no table 'events'. Did you mean 'event'?" in unknown[2]
    assert "Give it as --input events=PATH" in unknown[2]


def test_a_stream_is_stopped_and_goes_on(work: Path) -> None:
    first, second = some_events(500), some_events(700, BEGIN + 30 * MINUTE)
    late = (BEGIN - 60 * MINUTE, "a", -1)
    last = (BEGIN + 100 * MINUTE, "a", 0)
    write_csv(work / "arriving" / "1.csv", first)
    command = ["run", "queries.sql", "--input", "events=arriving", "--stream", "--watermark", "20 minutes", *conf()]
    stream = [sys.executable, "-m", "muntin", *command, "--output", "out", "--trigger", "1 second"]

    def has_begun_the_second() -> bool:
        if not (work / "out" / "low" / "muntin_batch=000000000000" / "_SUCCESS").exists():
            return False
        if not (work / "arriving" / "2.csv").exists():
            write_csv(work / "arriving" / "2.csv", second)
        offsets = work / "out" / "_checkpoint" / "offsets"
        return any('"logOffset":1' in file.read_text() for file in offsets.glob("[0-9]*"))

    for pause in PAUSES:
        code, out, err = interrupted(stream, work, has_begun_the_second)
        if TOO_SLOW not in err:
            break
        time.sleep(pause)  # and the same command goes on
    assert code == 0, err[-3000:]
    assert "stopped after" in out
    assert re.search(r"[1-9][\d,]* events", out)
    assert "run the same command to resume" in out
    assert err == ""

    write_csv(work / "arriving" / "3.csv", [late, last])
    (work / "one.sql").write_text("SELECT count(*) AS n FROM events GROUP BY window(ts, '1 hour')", encoding="utf-8")
    elsewhere, goes_on, single = commands(
        work,
        (*command, "--output", "out", "--checkpoint", "other"),
        (*command, "--output", "out", "--trigger", "availableNow"),
        ("run", "one.sql", *command[2:], "--trigger", "once"),
        width=120,
    )
    assert elsewhere[0] == 2
    assert "exists" in elsewhere[2]
    assert goes_on[0] == 0, goes_on[2]
    assert re.search(r"[1-9] late", goes_on[1])
    assert single[0] == 0, single[2]
    assert "1,202 events, 0 late, 1 micro-batch\n" in single[2]
    rows = ds.dataset(work / "out" / "low", partitioning="hive").to_table().to_pylist()
    expected = lows(first + second)
    assert len(rows) == len(expected)
    assert as_lows(rows) == expected


def interrupted(command: list[str], folder: Path, is_time: Callable[[], bool]) -> tuple[int, str, str]:
    """Run a command until it is time for Ctrl-C, and give its exit code, its output and its errors."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    job = subprocess.Popen(command, cwd=folder, env=environment(120), start_new_session=True, **pipes)
    deadline = time.monotonic() + LONG
    try:
        while not is_time() and job.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGINT)  # as Ctrl-C does: the group has Java, too
        out, err = job.communicate(timeout=LONG)
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    return job.returncode, out, err


def test_micro_batches_are_printed_with_what_any_type_is(spark: SparkSession) -> None:
    out = Console(file=StringIO(), width=120)
    sink = TableSink("low", 1, out)
    columns = "timestamp'2024-05-01 09:00:30' AS at, map('a', array(1)) AS held, X'00ff' AS raw, 1.50BD AS at"
    sink(spark.sql(f"SELECT {columns} FROM range(2)"), 7)
    sink(spark.sql(f"SELECT {columns} FROM range(0)"), 8)
    assert [line.rstrip() for line in out.file.getvalue().splitlines()] == [  # type: ignore[attr-defined]
        "low, micro-batch 7",
        "┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━┳━━━━━━┓",
        "┃ at                  ┃ held       ┃ raw  ┃   at ┃",
        "┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━╇━━━━━━┩",
        "│ 2024-05-01 09:00:30 │ {a -> [1]} │ 00FF │ 1.50 │",
        "└─────────────────────┴────────────┴──────┴──────┘",
        "… and more than these 1 rows",
        "",
    ]


def test_csv_has_the_fields_of_structs(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT struct(1 AS start, 2 AS end) AS `win``dow`, array(1, 2) AS a, 'x' AS b FROM range(3)")
    assert write(frame, f"{tmp_path}/out", "csv", LocalFiles()) == 3
    rows = ds.dataset(tmp_path / "out", format="csv").to_table().to_pylist()
    assert rows == [{"win`dow_start": 1, "win`dow_end": 2, "a": "[1,2]", "b": "x"}] * 3


@pytest.mark.parametrize("stream", [False, True])
def test_jars_that_are_missing_are_named(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    (tmp_path / "_delta_log").mkdir()
    for place, form in ((str(tmp_path), "delta"), ("kafka://localhost:9092/clicks", "kafka")):
        with pytest.raises(QueryError, match=f"this Spark has no jars for {form}. Add them"):
            frames(spark, sources([f"events={place}"], stream=stream), stream=stream)
    with pytest.raises(QueryError, match="this Spark has no jars for delta"):
        require(spark, "delta")


def test_inputs_tell_their_columns_or_are_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"ts": "2024-05-01T09:00:00Z", "v": 1}', encoding="utf-8")
    (tmp_path / "b.csv").write_text("v\n1\n", encoding="utf-8")
    given = [f"a={tmp_path}/a.json", f"b={tmp_path}/b.csv"]
    opened = frames(spark, sources(given, schemas=["b=v DOUBLE"]), stream=False)
    assert [frame.schema.simpleString() for frame in opened.values()] == [
        "struct<ts:timestamp,v:bigint>",
        "struct<v:double>",
    ]
    with pytest.raises(QueryError, match=r"input 'b' cannot be read: .*DUBLE"):
        frames(spark, sources(given, schemas=["b=v DUBLE"]), stream=False)
    (tmp_path / "c.parquet").write_text("no Parquet", encoding="utf-8")
    with pytest.raises(QueryError, match=r"input 'c' cannot be read: .*c\.parquet"):
        frames(spark, sources([f"c={tmp_path}/c.parquet"]), stream=False)
