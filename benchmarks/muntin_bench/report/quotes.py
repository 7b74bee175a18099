"""What other documents quote of the results: the report writes it between two comments."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from muntin_bench.record import Row, load
from muntin_bench.report.tables import table

DOCUMENTS = {Path("README.md"): "docs/benchmarks.md", Path("docs/slow_union.md"): "benchmarks.md"}
"""The documents, and where each finds the page of benchmarks."""
KEYED, GROWTH = "batch-keyed.json", "batch-growth.json"
BEGIN, END = "<!-- figures: written by muntin bench report -->", "<!-- end of figures -->"
ROUNDS = {2: "two", 3: "three", 4: "four", 5: "five"}


def write_quotes(root: Path, results: Path) -> None:
    """Write the figures anew into the documents that have a place for them."""
    if not all((results / name).exists() for name in (KEYED, GROWTH)):
        return
    keyed, growth = load(results / KEYED), load(results / GROWTH)
    for document, page in DOCUMENTS.items():
        path = root / document
        if path.exists() and BEGIN in (text := path.read_text(encoding="utf-8")):
            path.write_text(with_figures(text, quote_figures(keyed, growth, page)), encoding="utf-8")


def with_figures(text: str, figures: str) -> str:
    r"""Return a document with the figures between its comments.

    >>> with_figures(f"a\n{BEGIN}\nold\n{END}\nb", "new").split("\n")[2]
    'new'
    """
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{figures}\n{END}{rest.partition(END)[2]}"


def quote_figures(keyed: Row, growth: Row, page: str) -> str:
    """Write the seconds of twenty windows beside plain Spark's, and how the gain depends on windows and keys."""
    first = keyed["rows"][0]
    names = {"one window, plain": "plain Spark, one window", "plain": "plain Spark, twenty", "auto": "Muntin, twenty"}
    lines = [
        [f"{row['keys']:,} keys", *(_seconds(row["seconds"].get(name)) for name in names)] for row in keyed["rows"]
    ]
    cores = keyed["circumstances"]["machine"]["cores"]
    head = f"{first['events'] // 1_000_000} million generated events, five aggregates, {cores} cores, {_rounds(keyed)}"
    text = (
        f"At 100 keys, plain Spark takes {_ratio(first['seconds']):.0f} times as long as Muntin for twenty windows "
        f"([table]({page}#twenty-windows-beside-one-keyed-data), {_commit(keyed)}). The gain grew with the number of "
        f"windows and shrank with the number of keys ([table]({page}#growth-with-events-windows-and-keys), "
        f"{_rounds(growth)}, {_commit(growth)}). A dash means that the case was not run."
    )
    wrapped = fill(text, 140, break_long_words=False, break_on_hyphens=False)
    return f"{table([head, *names.values()], lines)}\n\n{wrapped}"


def _rounds(result: Row) -> str:
    rounds = result["settings"]["rounds"]
    return "one round" if rounds == 1 else f"median of {ROUNDS.get(rounds, rounds)} rounds"


def _commit(result: Row) -> str:
    return f"commit {result['circumstances']['commit']}"


def _ratio(seconds: Row) -> float:
    return float(seconds["plain"] / seconds["auto"])


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.1f} s"
