"""What other documents quote of the results: the report writes it between two comments."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from muntin.bench.record import Row, load
from muntin.bench.report.tables import table

DOCUMENTS = {Path("README.md"): "docs/benchmarks.md", Path("docs/slow_union.md"): "benchmarks.md"}
"""The documents, and where each finds the page of benchmarks."""
BEGIN, END = "<!-- figures: written by muntin bench report -->", "<!-- end of figures -->"
ROUNDS = {2: "two", 3: "three", 4: "four", 5: "five"}


def write_quotes(root: Path, results: Path) -> None:
    """Write the figures anew into the documents that have a place for them."""
    needed = ("batch-keyed", "batch-growth")
    if not all((results / f"{name}.json").exists() for name in needed):
        return
    keyed, growth = (load(results / f"{name}.json") for name in needed)
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
        f"([table]({page}#twenty-windows-beside-one-keyed-data)). The gain grows with the number of windows and "
        f"shrinks with the number of keys. In [another test]({page}#growth-with-events-windows-and-keys), with "
        f"windows of 20 seconds and more ({_rounds(growth)}), plain Spark takes {_gains(growth)} times as long. A dash "
        "means that the case was not run."
    )
    wrapped = fill(text, 140, break_long_words=False, break_on_hyphens=False)
    return f"{table([head, *names.values()], lines)}\n\n{wrapped}"


def _gains(growth: Row) -> str:
    """Write the ratio for few and many windows of 100 keys, and for many keys."""
    cases = {(row["events"], row["windows"], row["keys"]): row["seconds"] for row in growth["rows"]}
    few, more, keys = (_ratio(cases[3_000_000, *case]) for case in ((5, 100), (20, 100), (10, 100_000)))
    return f"{few:.1f} (five windows, 100 keys), {more:.1f} (twenty, 100 keys) and {keys:.1f} (ten, 100,000 keys)"


def _rounds(result: Row) -> str:
    rounds = result["settings"]["rounds"]
    return "one round" if rounds == 1 else f"median of {ROUNDS.get(rounds, rounds)} rounds"


def _ratio(seconds: Row) -> float:
    return float(seconds["plain"] / seconds["auto"])


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.1f} s"
