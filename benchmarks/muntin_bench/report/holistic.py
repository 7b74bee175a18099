"""The section of docs/benchmarks.md on distinct counts and medians."""

from __future__ import annotations

from muntin_bench.record import Row
from muntin_bench.report.tables import table


def holistic_section(result: Row) -> str:
    """Compare what a Spark user writes today, and sets for every slice, with what windows share."""
    rows = []
    for row in result["rows"]:
        times = row["seconds"]
        cells = [f"{times[name]:.2f}" if name in times else "" for name in ("plain", "sets", "marks", "ranges_kernel")]
        ratios = "; ".join(f"{name} {times[name] / times['auto']:.1f}" for name in ("plain", "sets") if name in times)
        fewer = row["events"] / row["plain_events"]
        cells[0] += f" ({row['plain_events']:,} events, times {fewer:g})" if fewer > 1 else ""
        rows.append(
            [row["case"], f"{row['events']:,}", *cells, f"{times['auto']:.2f}", ", ".join(row["shapes"]), ratios]
        )
    head = ["what is asked", "events", "plain, s", "sets, s", "marks, s", "ranges, s", "auto, s", "auto takes"]
    return "\n\n".join(
        [
            "## Distinct counts and medians, shared over windows",
            "The input has 90 days of events of 200,000 users in five countries. The result is by country. Planning is "
            "included. Plain is a union of one window aggregation per window. Where plain would take hours, it gets "
            "fewer events, and its time is multiplied: it grows with the rows that Spark explodes. *Sets* keeps a set "
            "of users for each slice and explodes slices into their windows. *Marks* and *ranges* are two shapes that "
            "share more than that.",
            table([*head, "others / auto"], rows),
        ]
    )
