"""The code in README and docs runs, and prints what stands below it.

`pytest tests/spark/test_documents.py --golden` writes below the blocks what they print.
"""

from __future__ import annotations

import inspect
import io
import shlex
import shutil
import textwrap
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.cli import main
from tests.documents import ELSEWHERE, ROOT, RUN, Block, blocks, pages, with_output
from tests.spark.patience import PAUSES, TOO_SLOW
from tools.pictures.gallery import EXAMPLES, RIDES, TIMES, micros

SHOWN_ONLY = ("bench", "demo")
"""Commands that have tests of their own: here, only that they exist."""


@pytest.fixture(scope="module")
def data(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that pages read: readings of devices, and payments by card."""
    folder = tmp_path_factory.mktemp("data")
    minute = "timestamp'2024-05-01 09:00:00' + make_interval(0, 0, 0, 0, 0, id, 0)"
    spark.range(240).selectExpr(
        f"{minute} AS ts",
        "concat('d', 1 + id % 3) AS device",
        "if(id % 3 = 2, 'south', 'north') AS region",
        "if(id % 4 = 0, 'hot', 'ok') AS state",
        "round(20 + 8 * sin(id / 20), 1) AS temperature",
    ).repartition(2).write.parquet(str(folder / "readings"))
    spark.range(60).selectExpr(
        f"{minute} AS ts", "concat('c', id % 4) AS card", "10D + id % 7 AS amount"
    ).write.parquet(str(folder / "payments"))
    return folder


@contextmanager
def made_current(spark: SparkSession, folder: Path) -> Iterator[None]:
    """Let relative paths of Python and of Spark start from a folder; stop the streams that were started there."""
    before = move_java(spark, str(folder))
    try:
        with chdir(folder):
            yield
    finally:
        for query in spark.streams.active:
            query.stop()
        move_java(spark, before)


def move_java(spark: SparkSession, folder: str) -> str:
    """Make a folder the one that relative paths of Spark start from; give the one before."""
    java: Any = spark._jvm
    hadoop = java.org.apache.hadoop.fs
    hadoop.FileSystem.get(spark._jsc.hadoopConfiguration()).setWorkingDirectory(hadoop.Path(folder))
    return str(java.System.setProperty("user.dir", folder))  # checkpoints go by this one


def run(code: str, scope: dict[str, Any], name: str = "block") -> str:
    """Run a block of Python, and let the streams that it starts read what is there; give what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, name, "exec"), scope)  # noqa: S102 - our own documents
    for query in scope["spark"].streams.active:
        query.processAllAvailable()
    return printed.getvalue().rstrip() + "\n"


def run_sql(block: Block, scope: dict[str, Any]) -> None:
    """Evaluate the statements of a block, and keep it as a file if it has a title."""
    if block.title:
        Path(block.title).write_text(block.code, encoding="utf-8")
    tables: dict[str, Any] = {name: table for name, table in scope.items() if isinstance(table, DataFrame)}
    results = mt.sql(block.code, **tables)
    for rows in [results] if isinstance(results, DataFrame) else results.values():
        if not rows.isStreaming:
            rows.collect()


def run_shell(code: str) -> None:
    """Run the lines that call muntin; tests/spark/test_cli_run.py runs such commands as processes."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["muntin"]:
            with pytest.raises(SystemExit) as end:
                main([*words[1:], "--help"] if words[1] in SHOWN_ONLY else words[1:])
            assert not end.value.code, line


def code_blocks(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.language in RUN and not block.reason]


def run_blocks(text: str, spark: SparkSession, name: str, golden: bool = False) -> str:
    """Run the blocks of a text in one namespace; compare what they print, or give the text with what they print."""
    scope: dict[str, Any] = {"__name__": "__main__", "mt": mt, "spark": spark}
    scope["readings"] = spark.read.parquet("readings")
    for block in code_blocks(text):
        if block.language == "python":
            printed = run(block.code, scope, f"{name}, line {block.line}")
            if golden:
                text = with_output(text, block, printed)
            elif block.output is not None:
                assert printed == block.output, block.code
        elif block.language == "sql":
            run_sql(block, scope)
        else:
            run_shell(block.code)
    return text


def run_patiently(text: str, spark: SparkSession, data: Path, at: Path, name: str, golden: bool = False) -> str:
    """Run a text in a folder of its own, and once more in another where Spark's ten seconds were too short."""
    for attempt, pause in enumerate(PAUSES):
        folder = shutil.copytree(data, at / str(attempt))
        try:
            with made_current(spark, folder):
                return run_blocks(text, spark, name, golden)
        except StreamingQueryException as error:
            if TOO_SLOW not in str(error):
                raise
        time.sleep(pause)
    raise AssertionError(f"{name}: {TOO_SLOW}")


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if page not in ELSEWHERE and code_blocks(page.read_text(encoding="utf-8"))],
    ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix(),
)
def test_blocks_run_and_print_what_stands_below_them(
    spark: SparkSession,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    page: Path,
) -> None:
    monkeypatch.setattr(SparkSession, "stop", lambda session: None)  # commands end the session that they use
    golden = bool(request.config.getoption("--golden"))
    text = page.read_text(encoding="utf-8")
    printed = run_patiently(text, spark, data, tmp_path, page.name, golden)
    if golden and printed != text:
        page.write_text(printed, encoding="utf-8")


def docstrings() -> Iterator[tuple[str, str]]:
    """Give the docstrings of public names, and of the methods of public classes, that have an example for Spark."""
    for name in mt.__all__:
        public = getattr(mt, name)
        members = vars(public).items() if isinstance(public, type) else ()
        parts = [(name, public), *((f"{name}.{member}", value) for member, value in members if member[0] != "_")]
        for part, value in parts:
            example = textwrap.dedent((inspect.getdoc(value) or "").partition("Example:\n")[2])
            if example:
                yield part, example


@pytest.mark.parametrize(("name", "text"), [pytest.param(*pair, id=pair[0]) for pair in docstrings()])
def test_examples_of_docstrings_run(spark: SparkSession, data: Path, tmp_path: Path, name: str, text: str) -> None:
    run_patiently(text, spark, data, tmp_path, f"mt.{name}")


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
