"""The section of docs/benchmarks.md on joins over time."""

from __future__ import annotations

from muntin.bench.record import Row
from muntin.bench.report.tables import table

NAMES = {"plain": "three joins", "by_hand": "three joins by bucket", "muntin": "mt.join"}
"""The contenders, as the document calls them."""
FASTER, SMALLER = 2.5, 0.5
"""The goals: times as fast as the better of Spark's plans, and the share of its state."""


def join_section(result: Row) -> str:
    """Compare one join for three ranges with three joins."""
    batch = [row for row in result["rows"] if row["part"] == "batch"]
    streams = [row for row in result["rows"] if row["part"] == "stream"]
    reached = [_ratio(row) >= FASTER for row in batch]
    parts = [
        "## Joins over time",
        "Pairs of impressions and orders of one user within three ranges, at random times; seconds, in turn, results "
        "computed and dropped, planning and the look at the first rows included. Plain Spark joins for every range on "
        "the user and the distance, or also by buckets as long as the range, one side being put into the neighbouring "
        "ones as well, and unites the results; it gives a pair once for every range that holds it. Only the row that "
        "says so lets Spark broadcast a side, as it cannot do with large inputs. A dash was not run.",
        table(
            ["case", "rows", "users", "ranges", "pairs", *NAMES.values(), "best of Spark / mt.join"], map(_line, batch)
        ),
        f"The goal of {FASTER} is reached in {sum(reached)} of {len(reached)} rows.",
    ]
    if streams:
        parts += [
            "Streams of the same kind, both directions: the most rows and memory in state, of three stream-stream "
            "joins and of one mt.join. Rows of the shorter ranges are saved, so all depends on how long they are; "
            "memory is also that of the operators, of which there is one instead of three.",
            table(
                [
                    *("case", "ranges", "rows, three joins", "rows, mt.join", "share"),
                    *("MB, three joins", "MB, mt.join", "share", "s, three joins", "s, mt.join"),
                ],
                map(_state, streams),
            ),
            f"The goal is a share of at most {SMALLER}.",
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
