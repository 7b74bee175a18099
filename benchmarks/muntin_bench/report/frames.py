"""The section of docs/benchmarks.md on windows of other kinds in batch."""

from __future__ import annotations

from muntin_bench.record import Row
from muntin_bench.report.tables import table


def frames_section(result: Row) -> str:
    """Compare what a Spark user writes today with all windows together."""
    rows = []
    for row in result["rows"]:
        times = row["seconds"]
        ratios = {name: times["plain"] / times[name] for name in times if name != "plain"}
        cells = [f"{times[name]:.2f}" for name in times]
        shapes = ", ".join(row["shapes"])
        rows.append([row["case"], *cells, shapes, *(f"{ratio:.2f}" for ratio in ratios.values())])
    first = result["rows"][0]
    names = list(first["seconds"])
    head = ["windows", *(f"{name}, s" for name in names), "auto takes"]
    head += [f"plain / {name}" for name in names if name != "plain"]
    return "\n\n".join(
        [
            "## Sessions, counts of rows, and a dashboard of all kinds",
            f"The input has {first['events'] // 1_000_000} million events of {first['keys']:,} keys. Each key has one "
            "every ten seconds on average. The query asks for sum, count and max. Planning is included. Plain is what "
            "a Spark user writes today: session_window for every gap, row_number and explode for every count, window "
            "for every period, and a union of all. *Ordered* reads all windows from the rows of every key in order.",
            table(head, rows),
        ]
    )
