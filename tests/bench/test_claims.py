"""What documents claim is what was measured, and says when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from muntin_bench import record
from muntin_bench.commands import bench
from muntin_bench.record import load, save
from muntin_bench.report.age import CHANGES, count_changes, read_changes, tell_age
from muntin_bench.report.findings import stream_finding
from muntin_bench.report.pages import report
from muntin_bench.report.quotes import DOCUMENTS, GROWTH, KEYED, quote_figures, with_figures, write_quotes
from muntin_bench.report.stream import stream_section

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
PROSE = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md", *(ROOT / "docs").rglob("*.md")]
EXPERIMENTS = [path for path in sorted(RESULTS.glob("*.json")) if "circumstances" in load(path)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_documents_quote_the_results(document: Path) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    figures = quote_figures(load(RESULTS / KEYED), load(RESULTS / GROWTH), DOCUMENTS[document])
    assert figures in text
    assert text == with_figures(text, figures), "muntin bench report writes the figures anew"


def test_figures_are_written_into_documents_that_have_a_place_for_them(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(with_figures(text, "old figures"), encoding="utf-8")
    write_quotes(tmp_path, RESULTS)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_the_gain_grows_with_windows_and_shrinks_with_keys() -> None:
    """As the figures say: else their text must change."""
    rows = [row for row in load(RESULTS / "batch-growth.json")["rows"] if "plain" in row["seconds"]]
    gains = {
        (row["events"], row["windows"], row["keys"]): row["seconds"]["plain"] / row["seconds"]["auto"] for row in rows
    }
    by_windows = [gains[3_000_000, windows, 100] for windows in (1, 5, 10, 20)]
    by_keys = [gains[3_000_000, 10, keys] for keys in (1, 100, 10_000, 100_000)]
    assert by_windows == sorted(by_windows)
    assert by_keys == sorted(by_keys, reverse=True)


def test_every_section_says_at_its_top_how_old_it_is() -> None:
    sections = BENCHMARKS.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(sections) == len(EXPERIMENTS)
    for section in sections:
        _, command, *_ = section.split("\n\n")
        age = (
            r"at commit [0-9a-f]{7,}( with uncommitted changes)?\. When this .* (no|\d+) commits? to the measured code"
        )
        assert re.search(age, command), command


def test_a_result_says_what_is_known_of_its_commit() -> None:
    def age(commit: str | None) -> str:
        return tell_age({"circumstances": {"commit": commit}}, {"1f03ff4": 275, "aaaaaaa": 0, "bbbbbbb": 1})

    later = "When this page was written, {} to the measured code had followed."
    assert age("1f03ff4") == f"**Measured at commit 1f03ff4. {later.format('275 commits')}**"
    assert age("bbbbbbb") == f"**Measured at commit bbbbbbb. {later.format('1 commit')}**"
    assert age("aaaaaaa") == f"Measured at commit aaaaaaa. {later.format('no commit')}"
    assert age("aaaaaaa-dirty") == f"Measured at commit aaaaaaa with uncommitted changes. {later.format('no commit')}"
    assert age("ccccccc") == "Measured at commit ccccccc."
    assert age(None) == "Measured at an unknown commit."


def test_a_clone_without_the_commit_keeps_the_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"rev-parse": "eeeeeee", "ddddddd..HEAD": "7"}
    monkeypatch.setattr("muntin_bench.report.age.git", lambda *words: answers.get(words[0]) or answers.get(words[2]))
    for number, commit in enumerate(("ddddddd", "fffffff-dirty", "0000000", None)):
        save({"circumstances": {"commit": commit}}, tmp_path / f"{number}.json")
    save({"at": "9999999", "commits": {"ddddddd": 3, "fffffff": 5, "1111111": 9}}, tmp_path / CHANGES)
    count_changes(tmp_path)
    assert read_changes(tmp_path) == {"at": "eeeeeee", "commits": {"ddddddd": 7, "fffffff": 5}}


def test_without_git_the_report_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin_bench.report.age.git", lambda *_: None)
    result = load(RESULTS / "batch-keyed.json")
    save(result, tmp_path / "batch-keyed.json")
    count_changes(tmp_path)
    assert not (tmp_path / CHANGES).exists()
    assert f"Measured at commit {result['circumstances']['commit']}." in report(tmp_path)


def test_git_that_fails_says_nothing() -> None:
    assert record.git("no-such-command") is None


def test_title_and_table_of_streams_have_the_same_baseline() -> None:
    result = load(RESULTS / "stream.json")
    text = stream_section(result)
    finding = stream_finding(result)
    for kind in ("dense", "sparse"):
        ratio = re.search(rf"^\| {kind}, 20 tumbling \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| [a-z]", text, re.MULTILINE)
        assert ratio is not None
        assert f"{ratio[1]} times" in finding
    assert re.search(r"run the same plan, so the difference between their columns is noise: up to \d+ %", text)


@pytest.mark.parametrize("page", PROSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_speak_neither_of_goals_nor_of_random_access(page: Path) -> None:
    text = page.read_text(encoding="utf-8").lower()
    assert not re.search(r"\bgoals?\b|random access", text)


def test_every_result_is_listed_with_its_command() -> None:
    listed = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for path in EXPERIMENTS:
        assert path.name in listed
        assert load(path)["command"].removeprefix("muntin bench batch ") in listed


def test_make_bench_repeats_what_it_says() -> None:
    """All but `stream latency`, which needs a broker; benchmarks/README.md says so."""
    published = {result["command"].removeprefix("muntin "): result for result in map(load, EXPERIMENTS)}
    ran = dict(repeated())
    assert published.keys() - ran.keys() == {"bench stream latency"}
    settings = {name: result["settings"] for name, result in published.items()}
    fewer = [name for name, rounds in ran.items() if rounds < settings.get(name, {}).get("rounds", 0)]
    assert not fewer, "a table would be replaced by one of fewer rounds"


def repeated() -> Iterator[tuple[str, int]]:
    """Yield the experiments of `make bench`, and the rounds of each; 0 if it has none."""
    rule = re.search(r"^bench: .*?\n\n", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert rule is not None
    for experiments, line in re.findall(r"(?:for experiment in (.*?); do )?\S+/muntin (bench [^;\n]*)", rule[0]):
        for experiment in experiments.split() or [""]:
            words = line.replace("$$experiment", experiment).split()
            command, arguments = bench.commands[words[1]], words[2:]
            while isinstance(command, click.Group) and arguments:
                command = command.commands[arguments.pop(0)]
            rounds = command.make_context(command.name, list(arguments)).params.get("rounds", 0)
            yield " ".join(words).partition(" --")[0], rounds


def test_the_contenders_of_the_shapes_table_exist() -> None:
    strategies = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    for row in load(RESULTS / "batch-shapes.json")["rows"]:
        assert all(f"| `{shape}` |" in strategies for shape in row["seconds"])
