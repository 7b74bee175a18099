"""The report's section on exact distinct counts over streams."""

from __future__ import annotations

from muntin_bench.record import Row
from muntin_bench.report.stream import NAMES
from muntin_bench.report.tables import table

OURS = "distinct"


def distinct_stream_section(result: Row) -> str:
    """Compare one state of latest occurrences with a set for every open instance."""
    first = result["rows"][0]
    return "\n\n".join(
        [
            "## Active users over a stream",
            f"The stream has {first['events']:,} events in {first['days']} days, and each day is a micro-batch. The "
            f"query counts distinct users in {first['countries']} countries, in windows of 1, 7 and 30 days that slide "
            "daily. State is in RocksDB. Spark refuses count(DISTINCT) on a stream, so plain is the size of "
            "collect_set, for every window alone. expand and chain keep such sets as well. distinct keeps the latest "
            "occurrence of every user. Micro-batches are those of the last third, when all windows are full. State is "
            "what the checkpoint has at the end: rows, and the bytes of their values, which distinct compresses.",
            table(
                ["stream", "shape", "events/s", "micro-batch, ms", "state rows", "state, MB", "checkpoint, MB"],
                [cells for row in result["rows"] for cells in _rows(row)],
            ),
            _ratios(result["rows"]),
        ]
    )


def _rows(row: Row) -> list[list[str]]:
    return [
        [
            f"{row['users']:,} users",
            "plain Spark" if name == "plain" else NAMES.get(name, name),
            f"{each['events_per_second']:,}",
            f"{each['batch_ms']:,}",
            f"{each['state_rows']:,}",
            f"{each['state_bytes'] / 1e6:,.2f}",
            f"{each['checkpoint_bytes'] / 1e6:,.1f}",
        ]
        for name, each in row["contenders"].items()
    ]


def _ratios(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        others = {name: each for name, each in row["contenders"].items() if name != OURS}
        ours, plain = row["contenders"][OURS], others["plain"]
        before = max((name for name in others if name != "plain"), key=lambda name: others[name]["events_per_second"])
        cells = [f"{row['users']:,} users"]
        for other in (plain, others[before]):
            cells.append(f"{ours['events_per_second'] / other['events_per_second']:.1f}")
            cells.append(f"{other['batch_ms'] / max(1, ours['batch_ms']):.1f}")
            cells.append(f"{other['state_bytes'] / max(1, ours['state_bytes']):.1f}")
        lines.append([*cells, before, row["shape"]])
    head = [
        *("stream", "times the throughput of plain Spark", "micro-batch", "smaller state"),
        *("times the throughput of the best other shape", "micro-batch", "smaller state", "which is", "auto takes"),
    ]
    return "\n\n".join(["Distinct beside plain Spark, and beside the better of the other shapes:", table(head, lines)])
