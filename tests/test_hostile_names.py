"""Names of any characters in commands; in SQL and plans over Spark, tests/spark/test_hostile_names.py."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

import muntin as mt
import muntin.spark
from muntin.cli import main
from muntin.cli.plans import FORMATS, print_form
from muntin.cli.queries import logs
from muntin.cli.queries.progress import steps
from muntin.cli.queries.summary import Written, written_table
from muntin.cli.terminal import Rows, print_plan, show
from muntin.registry import WindowRegistry
from tests.hostile import HOSTILE, ORDERS, is_printable

SQL = "SELECT min(v) AS low FROM events GROUP BY window(ts, '1 minute')"


def run(*arguments: str) -> str:
    """Run a command as on a terminal: otherwise click itself takes colours out of what it prints."""
    result = CliRunner().invoke(main, arguments, color=True)
    assert "Traceback" not in result.output
    return result.output


@pytest.mark.parametrize("id", HOSTILE)
def test_windows_of_any_name_come_and_go(id: str, tmp_path: Path) -> None:
    line = f"{id}: ⟨1h,1h⟩ waiting\n"
    assert run("windows", "add", str(tmp_path), "1 hour", "--id", id) == line
    assert run("windows", "list", str(tmp_path)) == line
    assert repr(id) in run("windows", "remove", str(tmp_path), "another")
    assert run("windows", "remove", str(tmp_path), id) == ""
    assert WindowRegistry(tmp_path).list() == ()


@pytest.mark.parametrize("id", ORDERS)
def test_no_name_of_a_window_moves_the_cursor(id: str, tmp_path: Path) -> None:
    added = run("windows", "add", str(tmp_path / "a"), "1 hour", "--id", id)
    fields = {"version": 1, "change": "add", "id": id, "window": {"range": "1h"}, "since": None}
    WindowRegistry(tmp_path).add("1 hour")
    (tmp_path / "00000001.json").write_text(json.dumps(fields), encoding="utf-8")  # whoever may write to the folder
    for output in (added, run("windows", "list", str(tmp_path)), run("windows", "remove", str(tmp_path), id + "?")):
        assert output.endswith("\n")
        assert output.removesuffix("\n").isprintable()


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "arguments",
    [
        ("windows", "list", "{name}"),
        ("windows", "list", "memory://{name}"),
        ("windows", "add", "unused", "{name}"),
        ("windows", "add", "unused", "1 hour", "--since", "{name}"),
        ("plan", "{name}"),
        ("plan", "1 hour", "-a", "{name}"),
        ("state", "{name}"),
        ("run", "{name}"),
        ("run", "statements.sql"),
        ("explain", "statements.sql", "--input", "events={name}"),
        ("run", "good.sql", "--input", "events={name}"),
        ("run", "good.sql", "--input", "{name}=s3a://bucket/a.csv", "--conf", "{name}"),
        ("run", "good.sql", "--input", "events=s3a://bucket/a.csv", "--input-option", "{name}=1"),
        ("run", "good.sql", "--input", "events=s3a://bucket/a.csv", "--conf-file", "{name}"),
        ("run", "good.sql", "--input", "events=s3a://bucket/a.csv", "--schema", "{name}=a INT"),
        ("run", "good.sql", "--input", "events=s3a://bucket/a.csv", "--output", "good.sql/{name}"),
    ],
)
def test_no_mistake_moves_the_cursor(
    arguments: tuple[str, ...], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.sql").write_text(SQL, encoding="utf-8")
    (tmp_path / "statements.sql").write_text(f"{SQL} WHERE '{name}' {name} FROM", encoding="utf-8", newline="")
    result = CliRunner().invoke(main, [text.format(name=name) for text in arguments], color=True)
    assert result.exit_code == 2, result.output
    assert is_printable(result.output)


def test_no_state_of_a_window_moves_the_cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        def stop(self) -> None:
            pass

    monkeypatch.setattr(muntin.spark, "session", lambda **_: Session())
    kept = [mt.Kept(number, name, 7) for number, name in enumerate((*HOSTILE, *ORDERS))]
    monkeypatch.setattr(muntin.spark, "state", lambda *_: kept)
    lines = run("state", str(tmp_path)).splitlines()
    assert len(lines) == len(kept)
    assert lines[0] == f"operator 0: {HOSTILE[0]} 7"
    assert all(map(str.isprintable, lines))


@pytest.mark.parametrize("id", [name for name in ORDERS if "\u202e" not in name])
def test_no_window_has_control_characters_in_its_name(id: str) -> None:
    with pytest.raises(mt.QueryError, match="has the character"):
        mt.tumbling(20, id=id)


@pytest.mark.parametrize("name", [*HOSTILE, *ORDERS])
@pytest.mark.parametrize("form", list(FORMATS))
def test_plans_are_printed_as_texts(form: str, name: str) -> None:
    plan = mt.plan(mt.tumbling(20, id=name if name in HOSTILE else "id"), mt.min(name))
    command = click.Command("plan", callback=lambda: print_form(FORMATS[form](plan), form))
    out = CliRunner().invoke(command, color=True).output
    assert is_printable(out)
    if form == "json":
        assert json.loads(out) == json.loads(plan.to_json())
    if form in ("html", "mermaid"):
        assert "<script" not in out


@pytest.mark.parametrize("name", [*HOSTILE, *ORDERS])
def test_what_a_run_prints_are_texts(name: str) -> None:
    console = Console(width=60, color_system=None)
    with console.capture() as out:
        show(console, Rows((name,), ([name],)), name)
        print_plan(console, f"query\n└─ {name}")
        console.print(written_table([Written(name, 1, f"/out/{name}")]))
    assert is_printable(out.get())
    assert out.get().startswith(name if name in HOSTILE else repr(name)[1:-1])


@pytest.mark.parametrize("name", ORDERS)
def test_steps_and_logs_are_texts(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=60, force_terminal=True, color_system=None)
    with console.capture() as out, steps(console, tasks=False) as shown:
        shown.now(name)
        shown.say(name)
        console.print()
    assert name not in out.get()
    with logs.logged(2):
        work = logging.getLogger("muntin.test")
        work.info("1 statements: %s", name)
        try:
            raise KeyError(name) from OSError(name)
        except KeyError:
            work.debug("the command fails", exc_info=True)
    logged = capsys.readouterr().err
    assert "1 statements: " in logged
    assert is_printable(logged)
