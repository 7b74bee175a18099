"""muntin run and muntin explain as far as they need no Spark: a mistake is told before Spark starts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from muntin.cli import main
from muntin.cli.failures import FAILED, MISTAKE, told
from muntin.cli.queries.inputs import sources
from muntin.cli.queries.options import Explain
from muntin.cli.queries.outputs import BATCH, CHECKPOINT, QUERY, batch_outputs, safe_names, stream_outputs
from muntin.cli.queries.work import in_words_of_the_command_line, prepared
from muntin.errors import InternalError, QueryError, UnsupportedError

SQL = "SELECT device, min(v) AS low FROM events GROUP BY device, window(ts, '1 minute')"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with statements and an input, which commands run in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.sql").write_text(SQL, encoding="utf-8")
    (tmp_path / "two.sql").write_text(f"-- name: low\n{SQL};\n-- name: ../low\n{SQL};\n", encoding="utf-8")
    (tmp_path / "events.csv").write_text("ts,device,v\n", encoding="utf-8")
    (tmp_path / "arriving").mkdir()
    (tmp_path / "arriving" / "1.json").write_text("{}", encoding="utf-8")
    return tmp_path


def put(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refused(*arguments: str) -> str:
    """Run a command that is wrong, and give its message."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.output


INPUT = ("--input", "events=events.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.sql", *INPUT), "there is no file 'none.sql'"),
        ((".", *INPUT), "'.' is a folder"),
        (("queries.sql", "--input", "events"), "--input 'events' is not NAME=VALUE"),
        (("queries.sql", "--input", "=events.csv"), "is not NAME=VALUE"),
        (("queries.sql", *INPUT, *INPUT), "--input gives 'events' twice"),
        (("queries.sql", "--input", "spark=events.csv"), "has a name that mt.sql takes for itself"),
        (("queries.sql", "--input", "tables=events.csv"), "has a name that mt.sql takes for itself"),
        (("queries.sql", *INPUT, "--tables", "all"), "Invalid value for '--tables'"),
        (("queries.sql", "--input", "events=none.parquet"), "input 'events' does not exist: there is no "),
        (("queries.sql", "--input", "events=none/*.parquet"), "input 'events' does not exist"),
        (("queries.sql", "--input", "events=queries.sql"), "does not show its format. Add --input-format events="),
        (("queries.sql", *INPUT, "--input-format", "xml"), "unknown format 'xml'. Known are parquet, csv"),
        (
            ("queries.sql", *INPUT, "--schema", "event=a INT", "--schema", "x=b INT"),
            "names 'event', which is not an input",
        ),
        (("queries.sql", "--input", "events=kafka://localhost"), "Write kafka://HOST:PORT/TOPIC"),
        (("queries.sql", "--input", "events=s3://bucket/events"), "does not show its format"),
        (("queries.sql", *INPUT, "--stream"), "A stream reads a folder that files arrive in"),
        (("queries.sql", *INPUT, "--conf", "spark.x"), "--conf 'spark.x' is not KEY=VALUE"),
        (("queries.sql", *INPUT, "--master", "lokal[2]"), "--master 'lokal[2]' is not a Spark master"),
        (("queries.sql", *INPUT, "--dialect", "klingon"), "Invalid value for '--dialect'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "explain"])
@pytest.mark.usefixtures("work")
def test_mistakes_end_before_spark_starts(command: str, arguments: tuple[str, ...], message: str) -> None:
    assert message in " ".join(refused(command, *arguments).split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "table", "--output", "out"), "--format table prints results"),
        (("--format", "csv"), "--format csv needs a folder to write to. Add --output"),
        (("--overwrite",), "--overwrite is for files"),
        (("--checkpoint", "c"), "--checkpoint is for streams. Add --stream"),
        (("--trigger", "once"), "--trigger is for streams. Add --stream"),
        (("--watermark", "1 minute"), "--watermark is for streams. Add --stream"),
        (("--rows", "0"), "is not in the range x>=1"),
        (("--output", "events.csv"), "output 'events.csv' is not a folder"),
        (("--output", "s3://b/out", "--stream", "--checkpoint", "c"), "is on another file system than checkpoint 'c'"),
    ],
)
@pytest.mark.usefixtures("work")
def test_options_that_do_not_go_together_are_refused(arguments: tuple[str, ...], message: str) -> None:
    assert message in " ".join(refused("run", "queries.sql", *INPUT, *arguments).split())


@pytest.mark.usefixtures("work")
def test_a_trigger_is_checked_before_spark_starts() -> None:
    asked = ("run", "queries.sql", "--input", "events=arriving", "--stream", "--output", "out", "--trigger", "soon")
    assert "--trigger 'soon' is not a time. Write availableNow, once, or a time" in refused(*asked)


@pytest.mark.parametrize(
    ("options", "tables"),
    [
        ({"inputs": ("events=events.csv",)}, "given"),
        ({"inputs": ("events=events.csv",), "conf": ("spark.driver.memory=2g",)}, "given"),
        ({"inputs": ("events=events.csv",), "conf": ("spark.sql.catalog.lake=org.example.Catalog",)}, "catalog"),
        ({"inputs": ("events=events.csv",), "conf": ("spark.sql.catalogImplementation=hive",)}, "catalog"),
        ({"inputs": ("events=events.csv",), "conf": ("spark.sql.catalog.spark_catalog=DeltaCatalog",)}, "given"),
        ({"inputs": ("events=events.csv",), "tables": "catalog"}, "catalog"),
        ({}, "catalog"),
        ({"tables": "given"}, "given"),
    ],
)
@pytest.mark.usefixtures("work")
def test_statements_read_only_inputs_unless_a_catalog_is_set(options: dict[str, Any], tables: str) -> None:
    assert prepared(Explain(file="queries.sql", **options)).tables == tables


def test_errors_name_the_options_of_the_command_line() -> None:
    error = QueryError("no table 'a'. Give it by keyword, as in a=df: tables='given' reads nothing else.")
    with pytest.raises(QueryError) as refusal, in_words_of_the_command_line():
        raise error
    assert str(refusal.value) == "no table 'a'. Give it as --input a=PATH: --tables given reads nothing else."


def test_a_mistake_in_the_text_ends_before_spark_starts(work: Path) -> None:
    put(work / "wrong.sql", "SELEC 1")
    assert "^" in refused("run", "wrong.sql", *INPUT)
    (work / "bytes.sql").write_bytes(b"SELECT '\xff\xfe'")
    assert "is not UTF-8 text" in refused("run", "bytes.sql", *INPUT)


def test_debug_shows_the_traceback(work: Path) -> None:
    put(work / "wrong.sql", "SELEC 1")
    result = CliRunner().invoke(main, ("run", "wrong.sql", *INPUT, "--debug"))
    assert result.exit_code == 2
    assert "Traceback" in result.output
    assert "Error: " in result.output


def test_results_are_never_overwritten_without_being_asked(work: Path) -> None:
    put(work / "out" / "low" / "part-0.parquet")
    message = " ".join(refused("run", "two.sql", *INPUT, "--output", "out").split())
    assert "out/low exists. Choose another --output, or replace it with --overwrite." in message


@pytest.mark.usefixtures("work")
def test_verbose_says_what_is_read() -> None:
    result = CliRunner().invoke(main, ("run", "two.sql", "--input", "events=none.csv", "-v"))
    assert "INFO muntin.cli.queries.work: 2 statements: low, ../low" in result.output


def source(*arguments: Sequence[str], stream: bool = False) -> tuple[str, str]:
    one = sources(*arguments, stream=stream)[0]
    return one.format, one.path


def test_formats_are_told_by_names_folders_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in (
        "a.parquet",
        "b.csv.gz",
        "c/_SUCCESS",
        "c/d=1/part-0.json",
        "d/_delta_log/0.json",
        "e[1]/x.csv",
        "f/x",
    ):
        put(tmp_path / file)
    top = f"file://{tmp_path}"
    assert source(["e=a.parquet"]) == ("parquet", f"{top}/a.parquet")
    assert source([f"e=file://{tmp_path}/b.csv.gz"]) == ("csv", f"{top}/b.csv.gz")
    assert source(["e=c"]) == ("json", f"{top}/c")
    assert source(["e=d"]) == ("delta", f"{top}/d")
    assert source(["e=e[1]"]) == ("csv", rf"{top}/e\[1\]")
    assert source(["e=c/d=*/part-*"]) == ("json", f"{top}/c/d=*/part-*")
    assert source(["e=f"], ["parquet"]) == ("parquet", f"{top}/f")
    assert source(["e=f"], ["e=parquet"]) == ("parquet", f"{top}/f")
    assert source(["e=s3://bucket/events.parquet"]) == ("parquet", "s3://bucket/events.parquet")
    topic = sources(["e=kafka://one:9092,two:9092/clicks"], schemas=["ts TIMESTAMP"])[0]
    assert (topic.format, topic.path, topic.servers, topic.schema) == (
        "kafka",
        "clicks",
        "one:9092,two:9092",
        "ts TIMESTAMP",
    )


def test_a_stream_may_begin_with_no_files(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="A stream may begin with none if"):
        sources([f"e={tmp_path}"], stream=True)
    with pytest.raises(QueryError, match="is empty: there are no files"):
        sources([f"e={tmp_path}"], ["csv"], ["a INT"])
    assert source([f"e={tmp_path}"], ["csv"], ["a INT"], stream=True)[0] == "csv"


def test_every_statement_has_a_folder_of_its_own() -> None:
    names = ["low", "../../etc/low", "Low", "a=b", "_hidden", ".", "", "x" * 300, "x" * 300 + "y", "日本 語"]
    safe = list(safe_names(names).values())
    assert len({name.lower() for name in safe}) == len(names)
    assert all(0 < len(name) <= 110 for name in safe)
    assert not [name for name in safe if "/" in name or "=" in name or name.startswith((".", "_"))]
    assert safe[-1] == "日本_語"


def test_overwrite_replaces_results_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path / "low" / "part-0.parquet")
    assert batch_outputs(tmp_path, ["low", "high"], overwrite=True).outdated == (str(tmp_path / "low"),)
    put(tmp_path / "low" / "thesis.txt")
    with pytest.raises(QueryError, match=r"holds 'thesis.txt', which is not a result of muntin run"):
        batch_outputs(tmp_path, ["low"], overwrite=True)


@pytest.mark.parametrize("input", ["", "low", "low/events.csv"])
def test_an_input_is_no_output(tmp_path: Path, input: str) -> None:
    with pytest.raises(QueryError, match=r"is where input .* is read from"):
        batch_outputs(tmp_path, ["low"], [tmp_path / input], overwrite=True)


def test_a_stream_goes_on_in_the_folders_of_its_checkpoint(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "out" / CHECKPOINT
    first = stream_outputs(out, ["low"])
    assert (first.folders, first.checkpoint, first.outdated) == ({"low": f"{out}/low"}, str(kept), ())
    put(out / "low" / f"{BATCH}=000000000000" / "part-0.parquet")
    with pytest.raises(QueryError, match="low exists"):
        stream_outputs(out, ["low"])
    put(kept / "metadata", json.dumps({"id": "one"}))
    with pytest.raises(QueryError, match="was not written by the stream that checkpoint"):
        stream_outputs(out, ["low"])
    put(out / "low" / QUERY, "one")
    assert stream_outputs(out, ["low"]).outdated == ()
    anew = stream_outputs(out, ["low"], overwrite=True)
    assert anew.outdated == (f"{out}/low", str(kept))
    anew.clear()
    assert list(out.iterdir()) == []


def test_a_checkpoint_elsewhere_is_never_removed(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint" / "metadata", json.dumps({"id": "one"}))
    with pytest.raises(QueryError, match="Remove the checkpoint, or leave out --overwrite"):
        stream_outputs(tmp_path / "out", ["low"], checkpoint=tmp_path / "checkpoint", overwrite=True)


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (QueryError("a"), "a", MISTAKE),
        (UnsupportedError("a"), "a", MISTAKE),
        (InternalError("a"), "This is a defect of Muntin", FAILED),
        (PermissionError(13, "Permission denied", "out"), "Permission denied: 'out'", MISTAKE),
        (TypeError("a"), "TypeError: a\nThis is a defect of Muntin", FAILED),
    ],
)
def test_exit_codes_tell_mistakes_from_failures(error: Exception, message: str, code: int) -> None:
    text, given = told(error)
    assert message in text
    assert given == code


def test_what_spark_finds_wrong_before_it_runs_is_a_mistake() -> None:
    from pyspark.errors import AnalysisException, SparkRuntimeException

    assert told(AnalysisException("[TABLE_OR_VIEW_NOT_FOUND] The table is not there. SQLSTATE: 42P01;\n'Project")) == (
        "The table is not there.",
        MISTAKE,
    )
    failed = SparkRuntimeException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\nJVM stacktrace:\n…")
    failed.add_note("Spark's log is in x.")
    assert told(failed) == ("Spark failed: Division by zero.\nSpark's log is in x.", FAILED)


def test_an_error_of_a_python_worker_is_told_by_its_sentence() -> None:
    from pyspark.errors import PythonException

    text = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File 'a.py', line 1\n"
    )
    assert told(PythonException(f"{text}KeyError: 'k'")) == ("Spark failed: KeyError: 'k'", FAILED)
    assert told(PythonException(f"{text}muntin.errors.QueryError: no. Use yes.")) == ("no. Use yes.", MISTAKE)
