"""The report's sections on techniques of final aggregation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from muntin.techniques import TECHNIQUES
from muntin_bench.experiments.woven import deviation
from muntin_bench.record import Row
from muntin_bench.report.tables import table

THROUGHPUT_FIGURE = Path("images/kernels.svg")
OPERATIONS = ("sum", "max")
PAPER_DEVIATIONS = {"weave_share": 31, "tri_weave": 14}


def kernels_section(result: Row) -> str:
    """Write throughput, latency and space of all techniques, and what the paper claims beside it."""
    rows = result["rows"]
    one = [row for row in rows if row["setting"] == "one range"]
    many = [row for row in rows if row["setting"] == "many ranges"]
    return "\n\n".join(
        [
            "## Techniques of final aggregation",
            "Each technique runs on one core over random doubles, with a range that slides by one partial. Times are "
            "processor time. A slide of naive gets slower with the range, so naive runs over fewer slides, all of them "
            "with a full range. In the figure, lines that coincide are dashes of their colours in turn.",
            f"![Throughput and partials held against the size of the range]({THROUGHPUT_FIGURE})",
            *(
                part
                for operation in OPERATIONS
                for part in (
                    f"Million slides per second, {operation}, one range:",
                    _pivot(_of(one, operation), lambda row: f"{row['per_second'] / 1e6:.3g}"),
                )
            ),
            *(
                part
                for operation in OPERATIONS
                for part in (
                    f"Million answers per second, {operation}, all ranges of 1 to n after every slide:",
                    _pivot(_of(many, operation), lambda row: f"{row['answers_per_second'] / 1e6:.3g}"),
                )
            ),
            "Nanoseconds of a slide, p50 / p99 / p99.9 / max. Reading the clock is included, and max is often a pause "
            "of the machine, not of the technique.",
            *(
                part
                for operation in OPERATIONS
                for part in (f"{operation}:", _pivot(_of(one, operation), _latency, (1024, 1_048_576)))
            ),
            "Partials and pointers held, one range:",
            _pivot(_of(one, "max") + [r for r in _of(one, "sum") if r["technique"] == "subtract_on_evict"], _held),
            _claims(one, many),
            *_first_use([row for row in rows if row["setting"] == "first use"]),
        ]
    )


def woven_section(result: Row) -> str:
    """Write estimated beside measured throughput of the optimizers' trees."""
    rows = result["rows"]
    lines, deviations = [], []
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        sets = {row["seed"] for row in rows}
        each = [deviation([r for r in rows if (r["algorithm"], r["seed"]) == (algorithm, seed)]) for seed in sets]
        deviations.append(f"{100 * mean(each):.0f} % for {algorithm} (the paper: {PAPER_DEVIATIONS[algorithm]} %)")
        for technique in dict.fromkeys(row["technique"] for row in rows):
            here = [row for row in rows if (row["algorithm"], row["technique"]) == (algorithm, technique)]
            cost, time = mean(row["cost"] for row in here), mean(row["nanoseconds"] for row in here)
            trees = mean(row["trees"] for row in here)
            lines.append([algorithm, technique, f"{trees:.1f}", f"{cost:.4g}", f"{time:.4g}", f"{time / cost:.3g}"])
    return "\n\n".join(
        [
            "## Estimated and measured cost of trees",
            "This follows Experiments 6 and 7 of the multi-query paper (Figures 22 and 23) at a tenth of their scale. "
            "A set has a hundred queries with slides that divide 100 and up to 1000 slides in a range. Events are "
            "random numbers instead of DEBS 2012 data, one per unit of time, on one core. The table gives means over "
            f"{len({row['seed'] for row in rows})} sets.",
            table(
                ["algorithm", "technique", "trees", "operations per unit", "ns per unit", "ns per operation"],
                lines,
            ),
            "Mean deviation of measured from estimated throughput, each as a share of its largest: "
            + ", ".join(deviations)
            + "; the paper's mean is 22 %.",
        ]
    )


def _first_use(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    compiled, kept = sum(row["compiled"] for row in rows), sum(row["from_disk"] for row in rows)
    slowest = max(rows, key=lambda row: row["compiled"])
    return [
        f"First use: Numba compiles a technique for an operation and a type in {compiled / len(rows):.1f} s on "
        f"average, once on a machine ({slowest['technique']} for {slowest['operation']} takes longest, "
        f"{slowest['compiled']:.1f} s). A new process reads it from disk in {kept / len(rows):.2f} s."
    ]


def _of(rows: Iterable[Row], operation: str) -> list[Row]:
    return [row for row in rows if row["operation"] == operation]


def _latency(row: Row) -> str:
    return " / ".join(f"{row['nanoseconds'][label]:.4g}" for label in ("p50", "p99", "p99.9", "max"))


def _held(row: Row) -> str:
    return f"{row['held']:,}"


def _pivot(rows: list[Row], cell: Any, sizes: Iterable[int] = ()) -> str:
    """Write techniques down and sizes across."""
    there = sorted({row["size"] for row in rows})
    shown = [size for size in (sizes or there) if size in there]
    cells = {(row["technique"], row["size"]): cell(row) for row in rows}
    names = [name for name in TECHNIQUES if any(name == row["technique"] for row in rows)]
    lines = [[name, *(cells.get((name, size), "—") for size in shown)] for name in names]
    return table(["technique", *(f"{size:,}" for size in shown)], lines)


def _claims(one: list[Row], many: list[Row]) -> str:
    """Set SlickDeque against the best of the others, as the paper does."""
    lines = []
    for operation, slick in (("sum", "subtract_on_evict"), ("max", "slick_deque")):
        for setting, rows, speed in (
            ("one range", _of(one, operation), "per_second"),
            ("many ranges", _of(many, operation), "answers_per_second"),
        ):
            gains, slower = {}, 0
            for size in sorted({row["size"] for row in rows if row["size"] > 1}):
                here = {row["technique"]: row[speed] for row in rows if row["size"] == size}
                others = max(speed for name, speed in here.items() if name not in (slick, "naive"))
                gains[size] = 100 * (here[slick] / others - 1)
                slower += here["naive"] > here[slick]
            best, worst = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
            claim = "up to +19 %" if setting == "one range" else "up to +345 %"
            lines.append(
                [
                    f"{operation}, {setting}",
                    claim,
                    f"{gains[best]:+.0f} % at {best:,}",
                    f"{gains[worst]:+.0f} % at {worst:,}",
                    f"{slower} of {len(gains)}",
                ]
            )
    return "\n\n".join(
        [
            "The next table compares SlickDeque with the fastest of the other incremental techniques. For sums, "
            "SlickDeque keeps running totals, which is subtract on evict. The paper's claims are for its own C++ "
            "programs. The last column says for how many sizes naive is faster than SlickDeque. For many ranges, naive "
            "gives all answers in one pass back from the newest partial. The paper's Panes, which computes each answer "
            "anew, is not measured.",
            table(["setting", "the paper's claim", "best seen", "worst seen", "sizes at which naive is faster"], lines),
            _space_claim(one),
        ]
    )


def _space_claim(one: list[Row]) -> str:
    largest = max(row["size"] for row in one)
    held = {row["technique"]: row["held"] for row in _of(one, "max") if row["size"] == largest}
    least = min(most for name, most in held.items() if name != "slick_deque")
    return (
        f"Space: the paper claims up to 5 times less. Over {largest:,} random partials the deque holds "
        f"{held['slick_deque']:,} numbers, and the least of the others {least:,}. On falling values it would hold all."
    )
