"""The section of docs/benchmarks.md on many queries over one input."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from muntin_bench.record import Row
from muntin_bench.report.tables import table

QUERIES_FIGURE = Path("images/queries.svg")
NAMES = {"plain": "plain Spark, one by one", "apart": "mt.aggregate, one by one", "auto": "mt.evaluate"}
"""The contenders, as the document calls them."""


def queries_section(result: Row) -> str:
    """Compare sets of queries that are evaluated together with each query alone."""
    rows = result["rows"]
    slower = [row for row in rows if ratio(row) < 1]
    head = ["seed", "queries", "windows", "filters", "key sets", *NAMES.values(), "plain / mt.evaluate", "shares"]
    return "\n\n".join(
        [
            "## Many queries over one input",
            "Each seed draws queries from a pool of filters (equalities, overlapping and disjoint ranges, both "
            f"together), sets of keys, windows and aggregates, over {rows[0]['events']:,} events in Parquet files. A "
            "larger set contains the smaller ones. The table gives the seconds until all rows of all queries are "
            "computed. Planning, the look at the first rows, and materialised intermediate results are included.",
            table(head, [_line(row) for row in rows]),
            f"mt.evaluate is at least as fast as plain Spark in {len(rows) - len(slower)} of {len(rows)} rows.",
            "The left panel shows events per second, counted once for each query. Thin lines are single seeds, thick "
            "lines their geometric means.",
            f"![Throughput against the number of queries]({QUERIES_FIGURE})",
        ]
    )


def ratio(row: Row) -> float:
    """Give how many times as fast as plain Spark all queries are together."""
    return float(row["seconds"]["plain"] / row["seconds"]["auto"])


def _line(row: Row) -> list[str]:
    times, shares = row["seconds"], Counter(share["way"] for share in row["shares"])
    told = ", ".join(f"{count} × {way}" if count > 1 else way for way, count in shares.items())
    return [
        *(str(row[name]) for name in ("seed", "queries", "windows", "filters", "keys")),
        *(f"{times[name]:.1f}" if name in times else "–" for name in NAMES),
        f"{ratio(row):.1f}",
        told,
    ]
