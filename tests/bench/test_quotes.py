"""Figures in sentences: each names its result file and commit in a comment above, and equals what that file has.

The comment is `<!-- measured: stream.json, commit 7563803 -->`, with an empty line below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muntin_bench.record import Row, load
from muntin_bench.report.queries import ratio
from muntin_bench.report.quotes import BEGIN, END

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
GENERATED = ROOT / "docs" / "benchmarks.md"
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path != GENERATED)]
MEASURED = re.compile(r"^<!-- measured: (\S+), commit (\S+) -->$", re.MULTILINE)
FIGURE = re.compile(r"\d m?s\b|\d times as (fast|long)")
ROUNDS = {1: "one round", 3: "three rounds"}


def stream_readme(result: Row) -> Iterator[str]:
    row = find(result, "dense, 20 tumbling")
    auto, separate = (row["contenders"][name]["events_per_second"] for name in ("auto", "separate"))
    yield (
        f"Twenty windows over {row['events'] / 1e6:g} million events ran {auto / separate:.1f} times as fast as twenty "
        f"queries in plain Spark (dense stream, {rounds(result)};"
    )


def stream_decision(result: Row) -> Iterator[str]:
    dense, sparse = (
        {name: f"{each['batch_p50_ms']} ms" for name, each in find(result, setting)["contenders"].items()}
        for setting in ("dense, 20 tumbling", "sparse, 5 hopping, range 6 slides")
    )
    yield f"has {rounds(result)}"
    yield f"expand took {dense['expand']} there, the chain {dense['chain']}"
    yield f"expand took {sparse['expand']}, columnar state {sparse['columnar']}"
    medians = {
        row["setting"]: {name: each["batch_p50_ms"] for name, each in row["contenders"].items()}
        for row in result["rows"]
    }
    shortest = [setting for setting, times in medians.items() if min(times, key=times.__getitem__) == "chain"]
    assert shortest == ["dense, 2 hopping, range 60 slides"]
    yield "The chain had the shortest median only with two hopping windows of 60 slides on a dense stream"
    many = find(result, "dense, 10 tumbling, 10,000 keys")["contenders"]
    yield f"With 10,000 keys on a dense stream, it keeps {many['chain']['state_rows']:,} rows"
    yield f"keeps the same rows as expand, keeps {many['plain']['state_rows']:,}"


def flink(result: Row) -> Iterator[str]:
    many, few = (
        [
            f"{row['seconds']['RocksDB, checkpoints'] / row['seconds']['muntin']:.1f}"
            for row in (find(result, f"dense, {windows}"), find(result, f"sparse, {windows}"))
        ]
        for windows in ("20 tumbling", "5 hopping, range 6 slides")
    )
    events = find(result, "dense, 20 tumbling")["events"]
    yield (
        f"({rounds(result)}), twenty tumbling windows over {events / 1e6:g} million events run {' and '.join(many)} "
        f"times as fast, five hopping windows {' and '.join(few)} times as fast"
    )


def latency(result: Row) -> Iterator[str]:
    medians = {row["engine"]: row["p50_ms"] / 1000 for row in result["rows"]}
    ours = sorted(seconds for engine, seconds in medians.items() if engine != "flink")
    yield (
        f"its median result arrives {medians['flink']:.1f} s after the event that closes the window, Muntin's after "
        f"{ours[0]:.1f} to {ours[-1]:.1f} s"
    )


def queries_readme(result: Row) -> Iterator[str]:
    (hundred,), twenty = gains(result, 100), gains(result, 20)
    assert {row["events"] for row in result["rows"]} == {10_000_000}
    yield f"On ten million events ({rounds(result)}), a set of a hundred queries runs {hundred} times as fast"
    yield f"Two sets of twenty run {' and '.join(twenty)} times as fast"


def queries_decision(result: Row) -> Iterator[str]:
    (hundred,), twenty = gains(result, 100), gains(result, 20)
    yield f"twenty queries are {' and '.join(twenty)} times as fast as plain Spark, a hundred are {hundred} times"


def rolling(result: Row) -> Iterator[str]:
    row = result["rows"][0]
    assert (row["part"], row["events"], row["keys"], row["ranges"], row["frame"]) == ("long", 10**6, 100, 5, 10_000)
    yield f"Five ranges of up to 10,000 rows took {row['seconds']['auto']:.2f} s"
    yield f"segment tree took {row['seconds']['tree']:.2f} s (a million events, 100 keys, {rounds(result)};"


QUOTES: dict[tuple[str, str], Callable[[Row], Iterator[str]]] = {
    ("README.md", "stream.json"): stream_readme,
    ("README.md", "stream-flink.json"): flink,
    ("README.md", "stream-latency.json"): latency,
    ("README.md", "queries.json"): queries_readme,
    ("docs/feature_tables.md", "rolling.json"): rolling,
    ("docs/decisions/0012-three-shapes-of-streams.md", "stream.json"): stream_decision,
    ("docs/decisions/0027-branches-at-the-source.md", "queries.json"): queries_decision,
}
"""What a page says of a result file."""


def find(result: Row, setting: str) -> Row:
    row: Row = next(row for row in result["rows"] if row["setting"] == setting)
    return row


def gains(result: Row, queries: int) -> list[str]:
    return [f"{ratio(row):.1f}" for row in result["rows"] if row["queries"] == queries]


def rounds(result: Row) -> str:
    return ROUNDS[result["settings"]["rounds"]]


def paragraphs(page: Path) -> Iterator[tuple[list[tuple[str, str]], str]]:
    """Yield the paragraphs of a page on one line each, and the result files that the comments above each name."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    blocks = re.sub(r"^```.*?^```$", "", before + rest.partition(END)[2], flags=re.DOTALL | re.MULTILINE).split("\n\n")
    for above, block in zip(["", *blocks], blocks, strict=False):
        yield MEASURED.findall(above), " ".join(block.split())


def quoting() -> dict[tuple[str, str], tuple[str, str]]:
    """Give the commit and the paragraph for every result file that a page names."""
    return {
        (str(page.relative_to(ROOT)), name): (commit, text)
        for page in PAGES
        for files, text in paragraphs(page)
        for name, commit in files
    }


def test_every_result_that_a_page_names_is_checked() -> None:
    assert quoting().keys() == QUOTES.keys()


@pytest.mark.parametrize(("page", "name"), QUOTES, ids=" and ".join)
def test_figures_in_sentences_are_those_of_the_results(page: str, name: str) -> None:
    result = load(RESULTS / name)
    commit, text = quoting()[page, name]
    assert commit == result["circumstances"]["commit"]
    for figures in QUOTES[page, name](result):
        assert figures in text


@pytest.mark.parametrize("page", [page for page in PAGES if "decisions" not in page.parts], ids=lambda page: page.name)
def test_figures_beside_a_table_of_benchmarks_name_their_result(page: Path) -> None:
    """In decisions they may be those of their day."""
    for files, text in paragraphs(page):
        assert files or "benchmarks.md#" not in text or not FIGURE.search(text), text
