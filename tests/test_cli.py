import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from muntin import __version__
from muntin.cli import main
from muntin.cli.benchmarks import MISSING


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_plans_are_printed_with_costs_before_and_after() -> None:
    output = run("plan", "20 minutes, 30 minutes, 40 minutes", "--aggregate", "min")
    assert "⟨10m,10m⟩ factor" in output
    assert "cost 150 instead of 360" in output


def test_json_holds_the_whole_plan() -> None:
    plan = json.loads(run("plan", "20, 30, 40", "--format", "json", "-a", "min", "-a", "sum"))
    assert (plan["cost"], plan["independent_cost"]) == (150, 360)
    assert (plan["semantics"], plan["aggregates"]) == ("partitioned by", ["min(value)", "sum(value)"])
    factor = {"label": "10", "range": 10, "slide": 10, "offset": 0}
    first, second, *_ = plan["windows"]
    assert first == factor | {"factor": True, "reads": None, "instances": 12, "inputs": 10, "cost": 120}
    assert second["reads"] == factor


def test_html_needs_no_network() -> None:
    page = run("plan", "20, 30, 40", "--format", "html")
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "http" not in page
    assert "<script" not in page


def test_html_and_mermaid_escape_ids() -> None:
    import muntin as mt

    plan = mt.plan(mt.tumbling(20, id='<b>"x"&y</b>'), "min")
    assert "<b>" not in plan.to_html()
    assert "&lt;b&gt;" in plan._repr_html_()
    assert "<b>" not in plan.to_mermaid()
    assert '"x"' not in plan.to_mermaid()


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("group", [(), ("bench",), ("windows",)])
def test_help_lists_every_command_in_full(group: tuple[str, ...], width: str) -> None:
    result = CliRunner().invoke(main, [*group, "--help"], env={"COLUMNS": width})
    assert "..." not in result.output.partition("Options:")[2]
    assert max(map(len, result.output.splitlines())) <= int(width)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "20 parsecs"), "Error: unknown unit 'parsecs'"),
        (("plan", ""), "Error: no windows were given"),
        (("plan", "20", "-a", "magic"), "Error: unknown aggregate 'magic'"),
        (("plan", "20", "--algorithm", "magic"), "Invalid value for '--algorithm'"),
        (("plan", "20", "--horizon", "soon"), "Error: horizon 'soon' has a unit but"),
        (("plan", "20", "--horizon", "²"), "Error: horizon '²' has a unit but"),
        (("plan", "9" * 5000), "Error: the window '99999999999999999999…' has 5,000 characters. Use at most 200."),
        (("plan", "1" + " " * 8000 + "x/"), "Error: cannot read"),
        (("plan", "20, 30 minutes"), "Error: '20' in '20, 30 minutes' has no unit of time. Write '20 minutes'"),
        (("plan", "5m 10m"), "Error: units in '5m 10m' do not fall. Write '1h30m' for one duration, '5m, 10m' for two"),
        (("plan", "10m 1h, 2h"), "Error: units in '10m 1h' do not fall"),
        (("plan", "20 minutes", "--horizon", "40"), "Error: horizon 40 has no unit but the windows have"),
        (("windows", "add", "build/none", "3600"), "Error: range 3600 has no unit of time"),
    ],
)
def test_mistakes_end_with_a_message(arguments: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code != 0
    assert message in result.output
    assert "Traceback" not in result.output


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "muntin", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert __version__ in done.stdout


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (("demo", "--rows"), "x>=1"),
        (("bench", "quality", "--sets"), "x>=1"),
        (("bench", "weave", "--runs"), "x>=1"),
        (("bench", "batch", "peers", "--rounds"), "x>=1"),
        (("bench", "batch", "peers", "--sets"), "x>=1"),
        (("bench", "kernels", "--rounds"), "x>=1"),
        (("bench", "rolling", "--rounds"), "x>=1"),
        (("bench", "woven", "--rounds"), "x>=1"),
        (("bench", "stream", "--rounds"), "x>=1"),
        (("bench", "stream", "--events"), "x>=100"),
        (("bench", "stream", "flink", "--events"), "x>=200"),
        (("bench", "distinct-stream", "--events"), "x>=100"),
        (("bench", "soak", "--minutes"), "x>0"),
    ],
)
@pytest.mark.parametrize("value", ["0", "-5"])
def test_numbers_that_count_are_positive(arguments: tuple[str, ...], right: str, value: str) -> None:
    result = CliRunner().invoke(main, (*arguments, value))
    assert result.exit_code == 2
    assert f"Invalid value for '{arguments[-1]}'" in result.output
    assert f"is not in the range {right}" in result.output


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("duckdb", ("bench", "batch", "peers")),
        ("polars", ("bench", "batch", "peers")),
        ("matplotlib", ("bench", "report")),
    ],
)
def test_missing_extras_are_named_with_their_remedy(
    missing: str, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("muntin_bench.experiments.peers", "muntin_bench.report.plots", "muntin_bench.report.style"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    out = tmp_path / "out"
    rest = ("--results", str(tmp_path), "--out", str(out)) if "report" in arguments else ("--out", str(out))
    result = CliRunner().invoke(main, (*arguments, *rest))
    assert result.exit_code == 1
    assert result.output == f"Error: {missing} is not installed. Run: pip install --editable benchmarks\n"
    assert not out.exists()


def test_other_missing_modules_are_defects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "muntin_bench.experiments.peers", raising=False)
    monkeypatch.setitem(sys.modules, "muntin_bench.workload", None)
    result = CliRunner().invoke(main, ("bench", "batch", "peers", "--out", str(tmp_path / "out")))
    assert isinstance(result.exception, ModuleNotFoundError)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("model",), ("stream", "flink", "--rounds", "2")])
def test_without_the_benchmarks_the_command_says_where_they_live(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "muntin_bench"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder).name != "benchmarks"])
    result = CliRunner().invoke(main, ("bench", *arguments))
    assert result.exit_code == 1
    assert result.output == f"Error: {MISSING}\n"
    assert "bench " in run("--help")
