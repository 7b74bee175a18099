"""The sections of docs/benchmarks.md on batch aggregation with Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from muntin_bench.record import Row
from muntin_bench.report.frames import frames_section
from muntin_bench.report.holistic import holistic_section
from muntin_bench.report.ranks import beside_the_best, rank_correlation
from muntin_bench.report.tables import table

SPEEDUP_FIGURE = Path("images/speedup.svg")
GROWTH_FIGURE = Path("images/growth.svg")

PAPER: dict[tuple[str, int, bool], tuple[float, float]] = {
    ("R", 5, True): (1.85, 2.54),
    ("R", 10, True): (1.88, 3.38),
    ("R", 5, False): (3.26, 4.29),
    ("R", 10, False): (3.20, 6.15),
    ("S", 5, True): (4.28, 4.81),
    ("S", 10, True): (7.91, 9.38),
    ("S", 5, False): (2.17, 2.81),
    ("S", 10, False): (2.92, 3.79),
    ("R", 15, True): (2.97, 4.34),
    ("R", 20, True): (2.10, 4.83),
    ("R", 15, False): (4.67, 6.59),
    ("R", 20, False): (4.23, 7.65),
    ("S", 15, True): (11.29, 13.83),
    ("S", 20, True): (14.28, 16.82),
    ("S", 15, False): (3.51, 4.68),
    ("S", 20, False): (4.02, 5.32),
}
"""Throughput boost with factor windows, mean and max, in Tables I and III of the paper (Synthetic-10M)."""


def _paper(result: Row) -> str:
    events = result["rows"][0]["events"]
    names = list(result["rows"][0]["ratios"])
    rows, below, least = [], [], []
    for row in result["rows"]:
        mean, most = PAPER[row["family"][0], row["count"], row["tumbling"]]
        least.append(row["ratios"]["auto"]["min"])
        label = f"{row['family']}, {row['count']} {'tumbling' if row['tumbling'] else 'hopping'}"
        below += [label] if row["ratios"]["auto"]["mean"] < mean else []
        cells = [f"{row['ratios'][name]['mean']:.2f} / {row['ratios'][name]['max']:.2f}" for name in names]
        rows.append([label, row["sets"], *cells, f"{row['ratios']['auto']['min']:.2f}", f"{mean:.2f} / {most:.2f}"])
    figure = [f"![Mean ratio by window set, beside the paper's]({SPEEDUP_FIGURE})"] if "expand" not in names else []
    return "\n\n".join(
        [
            f"## The paper's window sets on Spark, {events // 1_000_000} million events",
            "The table says how many times as fast as plain Spark each contender is, as mean / max over the sets, and "
            "gives the least ratio of auto on any set. Plain Spark is a union of window aggregations. The aggregate is "
            "MIN over one key, with one event per second, read from Parquet. Planning is included. "
            "The last column is what the paper printed for its own engine with factor windows. The two are unlike: "
            "the paper divides two plans of one engine, this table divides Muntin by plain Spark, and Muntin's gain "
            "comes from slices and kernels as well. What factor windows add on Spark is not measured.",
            *figure,
            table(["window sets", "sets", *names, "auto, least", "paper, with factor windows"], rows),
            f"On its worst set, auto is {min(least):.2f} times as fast as plain Spark. Its mean is below the paper's "
            f"in {len(below)} of {len(rows)} rows: {'; '.join(below) or 'none'}.",
        ]
    )


def _keyed(result: Row) -> str:
    rows = []
    for row in result["rows"]:
        times = row["seconds"]
        one = times["one window, plain"]
        cells = [f"{times[name]:.2f}" if name in times else "–" for name in ("one window, plain", "plain", "auto")]
        ratio = f"{times['plain'] / times['auto']:.1f}" if "plain" in times else "–"
        rows.append([f"{row['keys']:,}", *cells, f"{times['auto'] / one:.2f}", ratio])
    head = ["keys", "one window, plain, s", "20 windows, plain, s", "20 windows, auto, s"]
    return "\n\n".join(
        [
            "## Twenty windows beside one: keyed data",
            f"The input has {result['rows'][0]['events'] // 1_000_000} million events, 100 per second over all keys. "
            "The twenty windows last one minute to one day, and three of them hop. The query asks for sum, count, min, "
            "max and avg. The one window lasts five minutes. Where a key has few events, short windows have nearly as "
            "many result rows as there are events, and writing them takes most of the time.",
            table([*head, "auto / one window", "plain / auto"], rows),
        ]
    )


def _mixed(result: Row) -> str:
    (row,) = result["rows"]
    times = row["seconds"]
    alone = sum(times[name] for name in ("sums", "median", "distinct count"))
    return "\n\n".join(
        [
            "## Sums, a median and a distinct count together",
            f"The query asks for sum, count, min, max and avg, a median, and an exact distinct count, over "
            f"{row['windows']} windows, five of them hopping. The input has {row['events']:,} events of 100 keys. The "
            "first three rows ask for a part of it.",
            table(["asked for", "seconds"], [[name, f"{time:.2f}"] for name, time in times.items()]),
            f"Together they take {times['together'] / alone:.2f} times as long as the parts one after the other. "
            f"Plain Spark takes {times['together, plain'] / times['together']:.1f} times as long for all of them. "
            f"The whole query runs in the shapes {', '.join(row['shapes'])}.",
        ]
    )


def _fine(result: Row) -> str:
    rows = [
        [row["keys"], f"{row['events']:,}", f"{t['plain']:.1f}", f"{t['auto']:.2f}", f"{t['plain'] / t['auto']:.0f}"]
        for row in result["rows"]
        for t in [row["seconds"]]
    ]
    return "\n\n".join(
        [
            "## Fine slides",
            "One query has a window of 30 days that slides by 1 hour and one of 1 day that slides by 1 minute, over 90 "
            "days of events, with sum and max. Plain Spark makes 720 and 1440 rows of every event.",
            table(["keys", "events", "plain, s", "auto, s", "plain / auto"], rows),
        ]
    )


def _peers(result: Row) -> str:
    names = list(result["rows"][0]["seconds"])
    rows = [[row["set"], *(f"{row['seconds'][name]:.2f}" for name in names)] for row in result["rows"]]
    return "\n\n".join(
        [
            "## Beside DuckDB and Polars on one machine",
            "The table gives seconds. All engines read the same Parquet file of "
            f"{result['rows'][0]['events'] // 1_000_000} million events of one key, and compute MIN. *Each window* is "
            "one GROUP BY per window. *Panes by hand* first computes partials by the common divisor of all lengths, "
            "and then one GROUP BY per window over those. DuckDB and Polars keep their results in memory, Spark drops "
            "them. Spark's start is not counted.",
            table(["window sets", *names], rows),
        ]
    )


def _growth(result: Row) -> str:
    names = ("plain", "native", "kernel", "auto")
    rows = [
        [
            f"{row['events']:,}",
            row["windows"],
            f"{row['keys']:,}",
            *(f"{row['seconds'][name]:.2f}" if name in row["seconds"] else "–" for name in names),
            *(f"{row['estimates'][name]:.1f}" if name in row["estimates"] else "–" for name in ("plain", "auto")),
        ]
        for row in result["rows"]
    ]
    head = ["events", "windows", "keys", *(f"{name}, s" for name in names), "plain, estimate", "auto, estimate"]
    return "\n\n".join(
        [
            "## Growth with events, windows and keys",
            "The windows are tumbling, of 20 s, 30 s, and so on, over ten events per second, with min and sum. "
            "Estimates are in core-seconds.",
            f"![Time against events, windows and keys]({GROWTH_FIGURE})",
            table(head, rows),
            f"Rank correlation of estimated cost and measured time: {rank_correlation(result['rows']):.2f}. "
            + beside_the_best(_growth_times(row) for row in result["rows"]),
        ]
    )


def _growth_times(row: Row) -> tuple[str, float, float]:
    times = row["seconds"]
    label = f"{row['events']:,} events, {row['windows']} windows, {row['keys']:,} keys"
    return label, times["auto"], min(time for name, time in times.items() if name != "auto")


def _shapes(result: Row) -> str:
    names = list(result["rows"][0]["seconds"])
    rows = [
        [row["set"], *(f"{row['seconds'][name]:.2f} ({row['estimates'][name]:.1f})" for name in names)]
        for row in result["rows"]
    ]
    return "\n\n".join(
        [
            "## Physical shapes",
            "The table gives seconds and, in brackets, estimated core-seconds, for MIN over "
            f"{result['rows'][0]['events'] // 1_000_000} million events of one key, one per second. From the size of "
            "the file, Spark expects about half of its rows, so estimates are low.",
            table(["window sets", *names], rows),
            f"Rank correlation of estimated cost and measured time: {rank_correlation(result['rows']):.2f}. "
            + beside_the_best(_shape_times(row) for row in result["rows"]),
        ]
    )


def _shape_times(row: Row) -> tuple[str, float, float]:
    """Give the time of the shape with the least estimate, which auto takes, and the best time."""
    times, estimates = row["seconds"], row["estimates"]
    return row["set"], times[min(estimates, key=estimates.__getitem__)], min(times.values())


def _transfer(result: Row) -> str:
    (row,) = result["rows"]
    cells = [[name, f"{time:.2f}"] for name, time in row["seconds"].items()]
    return "\n\n".join(
        [
            "## Rows to Python",
            f"Spark sends {row['events'] // 1_000_000} million rows of two columns to Python workers, which only count "
            "them, under two settings of `spark.sql.execution.arrow.maxBytesPerBatch`.",
            table(["setting", "seconds"], cells),
        ]
    )


BATCH: dict[str, Callable[[Row], str]] = {
    "batch-paper-10m": _paper,
    "batch-paper-1m": _paper,
    "batch-keyed": _keyed,
    "batch-mixed": _mixed,
    "batch-fine": _fine,
    "batch-peers": _peers,
    "batch-growth": _growth,
    "batch-shapes": _shapes,
    "batch-transfer": _transfer,
    "batch-frames": frames_section,
    "batch-holistic": holistic_section,
}
"""The sections by result file."""
