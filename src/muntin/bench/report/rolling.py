"""The section of docs/benchmarks.md on rolling windows."""

from __future__ import annotations

from pathlib import Path

from muntin.bench.record import Row
from muntin.bench.report.tables import table

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
            "Seconds for min and sum over the ranges before every event, against Spark's own window functions with "
            "its default settings and with `spark.sql.window.segmentTree.enabled`; one event per second over all keys, "
            "from Parquet, in turn, results computed and dropped, planning and sampling included. "
            "A dash was not run: Spark's default reads every frame again for every row, which takes minutes to hours.",
            "Five ranges, of 2,000 to 10,000 rows of a key (the second row has fewer events, for Spark's default):",
            _table(parts["long"]),
            "Tiny frames, where there is nothing to share:",
            _table(parts["tiny"]),
            f"The least ratio of Spark's default to auto on tiny frames is {least:.2f}.",
            "More ranges, of 100, 200, and so on rows:",
            _table(parts["ranges"]),
            "Longer frames, one range; the longest has all earlier events of a key:",
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
