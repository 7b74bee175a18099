"""The report's section on slices that many windows share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from muntin.bench.record import Row
from muntin.bench.report.tables import table
from muntin.kernels.cutty.ways import WAYS

CUTTY_FIGURE = Path("images/cutty.svg")
NAMES = {
    "naive": "naive",
    "pairs": "Pairs, lazy",
    "pairs_eager": "Pairs, eager (Pairs+)",
    "random_access": "random access (RA)",
    "cutty_lazy": "Cutty, lazy",
    "cutty": "Cutty, eager",
    "cutty_merged": "Cutty, lazy, merged cuts",
}
WORKLOADS = {"periodic": "Periodic windows", "sessions": "Sessions"}
SHOWN = (1, 10, 20, 50, 100)
TABLES: dict[str, Callable[[Row], str]] = {
    "million combinations in all": lambda row: f"{operations(row) / 1e6:.4g}",
    "thousand combinations in the store, updates + merges": (
        lambda row: f"{row['updates'] / 1e3:,.4g} + {row['merges'] / 1e3:,.4g}"
    ),
    "slices held at most / partials that there was room for": lambda row: f"{row['held']:,} / {row['room']:,}",
    "million rows per second": lambda row: f"{row['rows_per_second'] / 1e6:.3g}",
}
Pair = dict[str, Row]


def operations(row: Row) -> int:
    """Count all combinations, those of rows among them."""
    return int(row["folds"] + stored(row))


def stored(row: Row) -> int:
    """Count the combinations in the store and for windows that end."""
    return int(row["updates"] + row["merges"])


def cutty_section(result: Row) -> str:
    """Write what each way takes, holds and reaches, and the paper's claims beside it."""
    rows = result["rows"]
    parts = [
        "## Slices that many windows share",
        f"The experiment of the Cutty paper: means of three measures over {rows[0]['rows'] / 1e6:g} million records, "
        "whole numbers made at random at 100 records a second, on one core. Periodic windows have ranges of 20,000 to "
        "80,000 records and slides of 1,000 to 20,000; sessions are those of 20 sensors that change every 1 to 100 "
        "seconds on average. A larger workload has the queries of the smaller ones. A combination joins two partials, "
        "or a row and a partial: rows that go into the slice that grows count in the first table, not in the second. "
        "Speeds are medians of runs in turn, in the processor's own seconds; which windows begin and end with a record "
        "is known before. All ways gave the same results"
        + (". " if all(row["equal"] for row in rows) else ", but not in all rows. ")
        + "Pairs needs ends before they come, so it cannot serve sessions.",
        f"![Combinations in the store, slices held and rows per second against queries]({CUTTY_FIGURE})",
    ]
    for workload, title in WORKLOADS.items():
        here = [row for row in rows if row["workload"] == workload]
        for label, cell in TABLES.items():
            parts += [f"{title}, {label}, by the number of queries:", _pivot(here, cell)]
    return "\n\n".join([*parts, *_claims(rows), *_merged(rows)])


def _pivot(rows: list[Row], cell: Callable[[Row], str]) -> str:
    there = sorted({row["queries"] for row in rows})
    shown = [count for count in SHOWN if count in there] or there
    cells = {(row["way"], row["queries"]): cell(row) for row in rows}
    lines = [[NAMES[way], *(cells[way, count] for count in shown)] for way in WAYS if (way, shown[0]) in cells]
    return table(["way", *map(str, shown)], lines)


def _claims(rows: list[Row]) -> list[str]:
    """Set what the paper says beside the same ratios here, and say in how many workloads it holds."""
    claims: list[tuple[str, str, str, Callable[[Pair], float], Callable[[float], bool]]] = [
        (
            "periodic",
            "Cutty eager needs the memory of Pairs lazy",
            "slices of Cutty, twice for the tree, ÷ slices of Pairs",
            lambda by: 2 * by["cutty"]["held"] / by["pairs"]["held"],
            lambda ratio: 0.9 <= ratio <= 1.1,
        ),
        (
            "periodic",
            "the same",
            "partials with room in Cutty eager ÷ in Pairs lazy",
            lambda by: by["cutty"]["room"] / by["pairs"]["room"],
            lambda ratio: 0.9 <= ratio <= 1.1,
        ),
        (
            "periodic",
            "nearly half of the reduce calls of Pairs+",
            "combinations in the store, Cutty eager ÷ Pairs eager",
            lambda by: stored(by["cutty"]) / stored(by["pairs_eager"]),
            lambda ratio: ratio <= 0.6,
        ),
        (
            "periodic",
            "half of the partials of Pairs+",
            "slices appended, Cutty ÷ Pairs",
            lambda by: by["cutty"]["appends"] / by["pairs_eager"]["appends"],
            lambda ratio: ratio <= 0.6,
        ),
        (
            "periodic",
            "three orders of magnitude below RA",
            "combinations in the store, RA ÷ Cutty eager",
            lambda by: stored(by["random_access"]) / stored(by["cutty"]),
            lambda ratio: ratio >= 1000,
        ),
        (
            "periodic",
            "the same",
            "all combinations, those of rows too, RA ÷ Cutty eager",
            lambda by: operations(by["random_access"]) / operations(by["cutty"]),
            lambda ratio: ratio >= 1000,
        ),
        (
            "periodic",
            "at least twice the throughput of Pairs+",
            "rows per second, Cutty eager ÷ Pairs eager",
            lambda by: by["cutty"]["rows_per_second"] / by["pairs_eager"]["rows_per_second"],
            lambda ratio: ratio >= 2,
        ),
        (
            "periodic",
            "eager stores take a tenth of the reduce calls of lazy ones",
            "combinations in the store, Cutty eager ÷ Cutty lazy",
            lambda by: stored(by["cutty"]) / stored(by["cutty_lazy"]),
            lambda ratio: ratio <= 0.1,
        ),
        (
            "sessions",
            "around three orders of magnitude below RA",
            "combinations in the store, RA ÷ Cutty eager",
            lambda by: stored(by["random_access"]) / max(1, stored(by["cutty"])),
            lambda ratio: ratio >= 1000,
        ),
        (
            "sessions",
            "a throughput several orders above RA",
            "rows per second, Cutty eager ÷ RA",
            lambda by: by["cutty"]["rows_per_second"] / by["random_access"]["rows_per_second"],
            lambda ratio: ratio >= 100,
        ),
    ]
    lines = []
    for workload, claim, measure, ratio, holds in claims:
        counts = sorted({row["queries"] for row in rows if row["workload"] == workload})
        ratios = {
            count: ratio({row["way"]: row for row in rows if (row["workload"], row["queries"]) == (workload, count)})
            for count in counts
        }
        kept = sum(map(holds, ratios.values()))
        verdict = "holds" if kept == len(counts) else "does not hold" if not kept else f"in {kept} of {len(counts)}"
        span = f"{ratios[counts[0]]:.3g} … {ratios[counts[-1]]:.3g}"
        lines.append([f"{workload}: {claim}", measure, span, verdict])
    head = ["the paper's claim", "ratio", f"with {counts[0]} … {counts[-1]} queries", "workloads in which it holds"]
    return ["The paper's claims are for its own programs on Flink. The same ratios here:", table(head, lines)]


def _merged(rows: list[Row]) -> list[str]:
    """Say what it gives to forget cuts where no active window begins."""
    most = max(row["queries"] for row in rows)
    texts = []
    for workload in WORKLOADS:
        by = {row["way"]: row for row in rows if (row["workload"], row["queries"]) == (workload, most)}
        plain, merged = by["cutty_lazy"], by["cutty_merged"]
        texts.append(
            f"{workload}: {merged['held']:,} slices instead of {plain['held']:,}, and "
            f"{stored(merged) / 1e3:,.4g} thousand combinations in the store instead of {stored(plain) / 1e3:,.4g} "
            f"(eager {stored(by['cutty']) / 1e3:,.4g})"
        )
    return [
        "Merged cuts go when no active window begins there, which the paper's bound on slices needs when queries are "
        f"many. With {most} queries: " + "; ".join(texts) + "."
    ]
