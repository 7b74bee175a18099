"""The section of docs/benchmarks.md on rolling windows."""

from __future__ import annotations

from pathlib import Path

from muntin_bench.record import Row
from muntin_bench.report.tables import table

ROLLING_FIGURE = Path("images/rolling.svg")
NAMES = {"plain": "Spark, its default", "tree": "Spark, segment tree on", "auto": "Muntin, auto"}
"""The contenders, as the document calls them."""


def _rolling(result: Row) -> str:
    parts = {
        name: [row for row in result["rows"] if row["part"] == name] for name in ("long", "tiny", "ranges", "frames")
    }
    least = min(times["plain"] / times["auto"] for times in (row["seconds"] for row in parts["tiny"]))
    return "\n\n".join(
        [
            "## Rolling windows",
            "The tables give seconds for min and sum over the ranges before every event. Muntin stands against Spark's "
            "own window functions, with Spark's default settings and with `spark.sql.window.segmentTree.enabled`. The "
            "input is Parquet with one event per second over all keys. Planning and sampling are included. Spark's "
            "default reads every frame again for every row: where that takes minutes to hours, it was not run.",
            "Five ranges of 2,000 to 10,000 rows of a key. The second row has fewer events, so that Spark's default "
            "ends:",
            _table(parts["long"]),
            "Tiny frames, where there is nothing to share:",
            _table(parts["tiny"]),
            f"On tiny frames, the least ratio of Spark's default to auto is {least:.2f}.",
            "More ranges, of 100 rows, 200 rows, and so on:",
            _table(parts["ranges"]),
            "One range that gets longer. The longest frame has all earlier events of a key:",
            f"![Time against the rows of a frame]({ROLLING_FIGURE})",
            _table(parts["frames"]),
        ]
    )


def _table(rows: list[Row]) -> str:
    head = ["events", "keys", "ranges", "rows of the longest frame", *NAMES.values(), "default / auto", "tree / auto"]
    return table(head, [_line(row) for row in rows])


def _line(row: Row) -> list[str]:
    times = row["seconds"]
    seconds = [f"{times[name]:.2f}" if name in times else "–" for name in NAMES]
    ratios = [f"{times[name] / times['auto']:.2f}" if name in times else "–" for name in ("plain", "tree")]
    return [f"{row['events']:,}", str(row["keys"]), str(row["ranges"]), f"{row['frame']:,}", *seconds, *ratios]


ROLLING = {"rolling": _rolling}
"""How each result file is written down."""
