"""The section of docs/benchmarks.md on distinct counts and medians."""

from __future__ import annotations

from muntin.bench.record import Row
from muntin.bench.report.tables import table


def holistic_section(result: Row) -> str:
    """Compare what a Spark user writes today, and sets for every slice, with what windows share."""
    rows, reached = [], []
    for row in result["rows"]:
        times = row["seconds"]
        ratios = {name: times[name] / times["auto"] for name in row["goals"]}
        reached += [ratios[name] >= goal for name, goal in row["goals"].items()]
        cells = [f"{times[name]:.2f}" if name in times else "" for name in ("plain", "sets", "marks", "ranges_kernel")]
        beaten = "; ".join(f"{name} {ratios[name]:.1f} (goal {goal:g})" for name, goal in row["goals"].items())
        fewer = row["events"] / row["plain_events"]
        cells[0] += f" ({row['plain_events']:,} events, times {fewer:g})" if fewer > 1 else ""
        rows.append(
            [row["case"], f"{row['events']:,}", *cells, f"{times['auto']:.2f}", ", ".join(row["shapes"]), beaten]
        )
    head = ["what is asked", "events", "plain, s", "sets, s", "marks, s", "ranges, s", "auto, s", "auto takes"]
    return "\n\n".join(
        [
            "## Distinct counts and medians, shared over windows",
            "Events of 200,000 users over 90 days, each in any of five countries; results by country, computed and "
            "dropped, planning included. Plain is a window aggregation for each window and a union. Where that would "
            "take hours, it is given fewer events and its time is multiplied: it grows with the rows that it explodes. "
            "Sets are the slices with a set of users each, exploded into their windows, which was the best before "
            "marks.",
            table([*head, "others / auto"], rows),
            f"auto reaches {sum(reached)} of {len(reached)} goals.",
        ]
    )
