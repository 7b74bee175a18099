"""The code in README and docs runs, and prints what stands below it.

`pytest tests/spark/test_documents.py --golden` writes below the blocks what they print.
"""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.cli import main
from muntin.plan.show.gallery import EXAMPLES, RIDES, TIMES, micros
from tests.documents import ROOT, RUN, Block, blocks, pages
from tests.spark.patience import LONG

SPARK_COMMANDS = ("run", "explain", "state")
SHOWN_ONLY = ("bench", "demo", "pictures")
"""Commands that have tests of their own: here, only that they exist."""
ONE_PROCESS = """
import json, sys
from muntin.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as end:
        if end.code:
            sys.exit(f"{arguments} ended with {end.code}")
"""


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder with readings of devices and payments by card, the current one of Python and of Spark."""
    monkeypatch.chdir(tmp_path)
    before = move_java(spark, str(tmp_path))
    minute = "timestamp'2024-05-01 09:00:00' + make_interval(0, 0, 0, 0, 0, id, 0)"
    spark.range(240).selectExpr(
        f"{minute} AS ts",
        "concat('d', 1 + id % 3) AS device",
        "if(id % 3 = 2, 'south', 'north') AS region",
        "if(id % 4 = 0, 'hot', 'ok') AS state",
        "round(20 + 8 * sin(id / 20), 1) AS temperature",
    ).repartition(2).write.parquet("readings")
    spark.range(60).selectExpr(f"{minute} AS ts", "concat('c', id % 4) AS card", "10D + id % 7 AS amount").write.parquet(
        "payments"
    )
    yield tmp_path
    for query in spark.streams.active:
        query.stop()
    move_java(spark, before)


def move_java(spark: SparkSession, folder: str) -> str:
    """Make a folder the one that relative paths of Spark start from; give the one before."""
    java: Any = spark._jvm
    hadoop = java.org.apache.hadoop.fs
    hadoop.FileSystem.get(spark._jsc.hadoopConfiguration()).setWorkingDirectory(hadoop.Path(folder))  # type: ignore[attr-defined]
    return str(java.System.setProperty("user.dir", folder))  # checkpoints go by this one


def run(code: str, scope: dict[str, Any], name: str = "block") -> str:
    """Run a block of Python; give what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, name, "exec"), scope)  # noqa: S102 - our own documents
    return printed.getvalue().rstrip() + "\n"


def run_sql(block: Block, scope: dict[str, Any]) -> None:
    """Evaluate the statements of a block, and keep it as a file if it has a title."""
    if block.title:
        Path(block.title).write_text(block.code, encoding="utf-8")
    tables = {name: table for name, table in scope.items() if isinstance(table, DataFrame)}
    results = mt.sql(block.code, **tables)
    for rows in [results] if isinstance(results, DataFrame) else results.values():
        if not rows.isStreaming:
            rows.collect()


def run_shell(code: str) -> list[list[str]]:
    """Run the commands that need no Spark; give those that do."""
    lines = [shlex.split(line, comments=True) for line in code.replace("\\\n", " ").splitlines()]
    calls = [words[1:] for words in lines if words and words[0] == "muntin"]
    for words in calls:
        if words[0] not in SPARK_COMMANDS:
            shown = CliRunner().invoke(main, [*words, "--help"] if words[0] in SHOWN_ONLY else words)
            assert shown.exit_code == 0, (words, shown.output, shown.exception)
    return [words for words in calls if words[0] in SPARK_COMMANDS]


def code_blocks(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.language in RUN and not block.reason]


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if code_blocks(page.read_text(encoding="utf-8"))],
    ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix(),
)
def test_blocks_run_and_print_what_stands_below_them(
    spark: SparkSession, folder: Path, request: pytest.FixtureRequest, page: Path
) -> None:
    text = page.read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__", "mt": mt, "spark": spark}
    scope["readings"] = spark.read.parquet("readings")
    commands: list[list[str]] = []
    for block in code_blocks(text):
        if block.language == "python":
            printed = run(block.code, scope, f"{page.name}, line {block.line}")
            if request.config.getoption("--golden"):
                text = with_output(text, block, printed)
            elif block.output is not None:
                assert printed == block.output, block.code
        elif block.language == "sql":
            run_sql(block, scope)
        else:
            commands += run_shell(block.code)
    if commands:
        ended = subprocess.run(
            [sys.executable, "-c", ONE_PROCESS, json.dumps(commands)], timeout=LONG, capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
    if request.config.getoption("--golden"):
        page.write_text(text, encoding="utf-8")


def with_output(text: str, block: Block, printed: str) -> str:
    """Put what a block prints now below it."""
    code = f"```python\n{block.code}```\n\n```\n"
    return text.replace(f"{code}{block.output}```", f"{code}{printed}```") if block.output is not None else text


def test_pictures_show_the_rows_windows_and_results_of_the_page(spark: SparkSession) -> None:
    page = [block.code for block in code_blocks((ROOT / "docs/windows.md").read_text(encoding="utf-8"))]
    scope: dict[str, Any] = {"__name__": "__main__"}
    (two_legs,) = (code for code in page if "def two_legs" in code)
    run(page[0], scope)
    run(two_legs[: two_legs.index("\n\n")], scope)
    told = scope["rides"].selectExpr("unix_micros(ts)", "km", "speed", "stop", "parcels").collect()
    assert [tuple(row) for row in told] == [(micros(ride.minute), *ride[1:]) for ride in RIDES]
    windows = {name: eval(example.code, scope) for name, example in EXAMPLES.items()}  # noqa: S307 - our own page
    for name, window in windows.items():
        drawn = EXAMPLES[name].drawn()
        assert window.text == drawn.window.text.replace("Z/", "/")  # by the clock of the session, UTC
        assert sorted(window.over(TIMES, *EXAMPLES[name].columns)) == sorted(drawn.instances)
    asked = [replace(window, id=name) for name, window in windows.items()]
    result = mt.aggregate(scope["rides"], "ts", "van", asked, mt.count())
    rows = result.selectExpr("window_id", "unix_micros(window.start)", "unix_micros(window.end)", "count").collect()
    wanted = [
        (name, one.start, one.end, one.hi - one.lo)
        for name, example in EXAMPLES.items()
        for one in example.drawn().instances
    ]
    assert sorted(map(tuple, rows)) == sorted(wanted)
