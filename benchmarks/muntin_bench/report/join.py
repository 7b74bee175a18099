"""The section of docs/benchmarks.md on joins over time."""

from __future__ import annotations

from muntin_bench.record import Row
from muntin_bench.report.tables import table

NAMES = {"plain": "three joins", "by_hand": "three joins by bucket", "muntin": "mt.join"}
"""The contenders, as the document calls them."""


def join_section(result: Row) -> str:
    """Compare one join for three ranges with three joins."""
    batch = [row for row in result["rows"] if row["part"] == "batch"]
    streams = [row for row in result["rows"] if row["part"] == "stream"]
    ratios = [_ratio(row) for row in batch]
    parts = [
        "## Joins over time",
        "The query pairs impressions and orders of one user within three ranges. Times are random. The table gives "
        "seconds, with planning and the look at the first rows included. Plain Spark has two ways. *Three joins* joins "
        "once per range, on the user and the distance, and unites the results. *By bucket* also joins on buckets as "
        "long as the range, and puts one side into the neighbouring buckets as well. Both give a pair once for every "
        "range that holds it. Spark may broadcast a side only in the row that says so; with large inputs it cannot.",
        table(
            ["case", "rows", "users", "ranges", "pairs", *NAMES.values(), "best of Spark / mt.join"], map(_line, batch)
        ),
        f"mt.join is {min(ratios):.1f} to {max(ratios):.1f} times as fast as the better of Spark's plans.",
    ]
    if streams:
        parts += [
            "The same on streams, in both directions. The table compares three stream-stream joins with one mt.join, "
            "by the most rows and the most memory in state. mt.join saves the rows of the shorter ranges, so the gain "
            "depends on how long they are. It also saves memory because there is one operator instead of three.",
            table(
                [
                    *("case", "ranges", "rows, three joins", "rows, mt.join", "share"),
                    *("MB, three joins", "MB, mt.join", "share", "s, three joins", "s, mt.join"),
                ],
                map(_state, streams),
            ),
        ]
    return "\n\n".join(parts)


def _ratio(row: Row) -> float:
    times = row["seconds"]
    return float(min(times[name] for name in times if name != "muntin") / times["muntin"])


def _line(row: Row) -> list[str]:
    times = row["seconds"]
    seconds = [f"{times[name]:.2f}" if name in times else "–" for name in NAMES]
    rows = f"{row['left']:,} and {row['right']:,}"
    return [
        row["case"],
        rows,
        f"{row['users']:,}",
        ", ".join(row["within"]),
        f"{row['pairs']:,}",
        *seconds,
        f"{_ratio(row):.2f}",
    ]


def _state(row: Row) -> list[str]:
    plain, ours = row["states"]["plain"], row["states"]["muntin"]
    times = [f"{one['seconds']:.1f}" for one in (plain, ours)]
    sizes = [f"{one['state_rows']:,}" for one in (plain, ours)]
    memory = [f"{one['state_bytes'] / 1e6:,.0f}" for one in (plain, ours)]
    shares = [f"{ours[name] / max(1, plain[name]):.2f}" for name in ("state_rows", "state_bytes")]
    return [row["case"], ", ".join(row["within"]), *sizes, shares[0], *memory, shares[1], *times]
