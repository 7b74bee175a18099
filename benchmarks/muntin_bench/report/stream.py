"""The report's sections on Structured Streaming."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from muntin_bench.record import Row
from muntin_bench.report.ranks import beside_the_best, rank_correlation
from muntin_bench.report.tables import table

PLAIN = ("plain", "separate")
STREAM_FIGURE = Path("images/stream.svg")
NAMES = {
    "plain": "plain Spark, one query",
    "separate": "plain Spark, a query each",
    "expand": "expand",
    "chain": "chain",
    "columnar": "columnar",
    "auto": "auto",
}


def stream_section(result: Row) -> str:
    """Write throughput, state and micro-batch times of every stream."""
    rows = result["rows"]
    return "\n\n".join(
        [
            "## Structured Streaming",
            "Each query reads files one by one with availableNow, keeps its state in RocksDB, and computes min, sum "
            "and count. A dense stream has 100 events in the shortest window of a key, a sparse one has 6. Window "
            "lengths are multiples of ten minutes. expand, chain and columnar are Muntin's shapes for streams; auto "
            "chooses one.",
            f"![Events per second against the number of windows]({STREAM_FIGURE})",
            "Thousand events per second:",
            _pivot(rows, lambda row: f"{row['events_per_second'] / 1000:,.0f}"),
            "The most state rows. Where each window has its own query, this is the sum over the queries. Columnar "
            "state packs many slices into one row:",
            _pivot(rows, lambda row: f"{row['state_rows']:,}"),
            "Size of the checkpoint at the end, in MB:",
            _pivot(rows, lambda row: f"{row['checkpoint_bytes'] / 1e6:,.1f}"),
            "Time of a micro-batch that has rows, in ms, p50 / p99:",
            _pivot(rows, lambda row: f"{row['batch_p50_ms']:,} / {row['batch_p99_ms']:,}"),
            _ratios(rows),
            *([_noise(rows)] if all("estimates" in row for row in rows) else []),
            *([_ranked(rows)] if all("estimates" in row for row in rows) else []),
        ]
    )


def _ranked(rows: list[Row]) -> str:
    """Compare estimates with median micro-batches: every stream has the same number of them."""
    scaled = [
        {
            "seconds": {name: row["contenders"][name]["batch_p50_ms"] for name in row["contenders"]},
            "estimates": {name: cost for name, cost in row["estimates"].items() if name in row["contenders"]},
        }
        for row in rows
    ]
    correlation = rank_correlation(scaled)
    times = [(row["setting"], one["seconds"]) for row, one in zip(rows, scaled, strict=True)]
    distances = (
        (label, each["auto"], min(time for name, time in each.items() if name != "auto")) for label, each in times
    )
    told = f"Rank correlation of estimated cost and median micro-batch: {correlation:.2f}. "
    return told + "By the median micro-batch, " + beside_the_best(distances)


def _pivot(rows: list[Row], cell: Any) -> str:
    names = [name for name in NAMES if any(name in row["contenders"] for row in rows)]
    lines = [
        [row["setting"], *(cell(row["contenders"][name]) if name in row["contenders"] else "–" for name in names)]
        for row in rows
    ]
    return table(["stream", *(NAMES[name] for name in names)], lines)


def plain_rate(contenders: Row) -> float:
    """Return the events per second of the faster of plain Spark's two ways."""
    return float(max(contenders[name]["events_per_second"] for name in PLAIN if name in contenders))


def _ratios(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        contenders = row["contenders"]
        auto, plain = contenders["auto"], [contenders[name] for name in PLAIN if name in contenders]
        speed = auto["events_per_second"] / plain_rate(contenders)
        steady = min(way["batch_p50_ms"] for way in plain) / auto["batch_p50_ms"]
        state = min(way["checkpoint_bytes"] for way in plain) / max(1, auto["checkpoint_bytes"])
        best = min(contenders, key=lambda name: contenders[name]["batch_p50_ms"])
        lines.append([row["setting"], f"{speed:.1f}", f"{steady:.1f}", f"{state:.1f}", NAMES[best]])
    return "\n\n".join(
        [
            "auto beside the better of plain Spark's two ways, and the contender with the shortest median micro-batch. "
            "A columnar query starts Python processes in its first micro-batch, which is its slowest.",
            table(
                [
                    *("stream", "times the events per second, start included", "median micro-batch, plain / auto"),
                    *("checkpoint, plain / auto", "shortest median"),
                ],
                lines,
            ),
        ]
    )


def _noise(rows: list[Row]) -> str:
    """Say how far two runs of one plan are apart: auto, and the shape that auto chooses."""
    apart = []
    for row in rows:
        contenders, estimates = row["contenders"], row["estimates"]
        shape = min(estimates, key=estimates.__getitem__)
        if shape in contenders:
            rates = [contenders[name]["events_per_second"] for name in ("auto", shape)]
            apart.append((max(rates) / min(rates) - 1, row["setting"]))
    if not apart:
        return ""
    most, where = max(apart)
    percent = f"{most:.0%}".replace("%", " %")
    return (
        "auto and the shape that it chooses run the same plan, so the difference between their columns is noise: up to "
        f"{percent} in events per second ({where}). Smaller differences in these tables mean nothing."
    )


def soak_section(result: Row) -> str:
    """Write how heap and state develop over a long run."""
    lines = []
    for strategy in dict.fromkeys(row["strategy"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["strategy"] == strategy]
        rows = rows[len(rows) // 4 :]  # windows fill up first
        half = len(rows) // 2
        for name, part in (("first half", rows[:half]), ("second half", rows[half:])):
            if part:
                lines.append(
                    [
                        f"{strategy}, {name}",
                        f"{part[0]['batch']}–{part[-1]['batch']}",
                        f"{median(row['heap_bytes'] for row in part) / 1e6:,.0f}",
                        f"{max(row['state_rows'] for row in part):,}",
                        f"{max(row['state_bytes'] for row in part) / 1e6:,.1f}",
                        f"{median(row['milliseconds'] for row in part):,.0f}",
                    ]
                )
    return "\n\n".join(
        [
            "## A long run",
            "The source rate-micro-batch gives a micro-batch every second, each with thirty minutes of stream time. "
            "The query has ten windows and 100 keys. Rows count once all windows have filled. Heap (after a "
            "collection) and micro-batch are medians; state rows and state MB are the greatest. State rows do not "
            "grow. State memory is mostly RocksDB's write buffers. They fill slowly, in plain Spark (independent) as "
            "well, until RocksDB empties them.",
            table(["strategy", "micro-batches", "heap, MB", "state rows", "state, MB", "micro-batch, ms"], lines),
        ]
    )
