"""Techniques of final aggregation against each other: throughput, latency and what they hold, on one core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from muntin.kernels.catalogue import KERNELS, MANY, offers
from muntin.kernels.operators import Max, Operator, Sum, Timed
from muntin.techniques import TECHNIQUES
from muntin_bench.record import Row

Progress = Callable[[str], None]

OPERATIONS: dict[str, Operator] = {"sum": Sum(), "max": Max()}
SIZES = tuple(4**power for power in range(11))
MANY_SIZES = tuple(4**power for power in range(7))
SLIDES = 4_000_000
"""Slides of one range that are measured, and at least four windows of them."""
LEAST = 2_000
"""Slides that are measured where each is slow."""
WORK = 400_000_000
"""Operations that the slow techniques may take in one run."""
TIMED = 400_000
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def one_range(rounds: int, progress: Progress, sizes: Iterable[int] = SIZES) -> Iterator[Row]:
    """Yield slides per second, nanoseconds of a slide, and partials held, for one range of each size."""
    source = np.random.default_rng(1).random(SLIDES + 4 * max(sizes))
    for operation, operator in OPERATIONS.items():
        able = [name for name, kind in TECHNIQUES.items() if kind.need in offers(operator)]
        for size in sizes:
            progress(f"{operation}, one range of {size}")
            stretches = {name: _stretch(name, source, size, SLIDES, 4 * size) for name in able}
            runs = {name: _run_of(KERNELS[name], operator, stretch) for name, stretch in stretches.items()}
            speeds = in_turn(runs, rounds)
            for name, run in runs.items():
                slides = stretches[name].slides
                timed = _timed(KERNELS[name], operator, _stretch(name, source, size, TIMED, size))
                yield {
                    "setting": "one range",
                    "operation": operation,
                    "size": size,
                    "technique": name,
                    "slides": slides,
                    "per_second": round(slides / speeds[name]),
                    "held": int(run()),
                    "nanoseconds": {label: round(float(np.quantile(timed, q)), 1) for label, q in QUANTILES.items()},
                    "timed_slides": len(timed),
                }


def many_ranges(rounds: int, progress: Progress, sizes: Iterable[int] = MANY_SIZES) -> Iterator[Row]:
    """Yield answers per second for all ranges of 1 to n partials after every slide (the max-multi-query setting)."""
    source = np.random.default_rng(2).random(200_000 + max(sizes))
    for operation, operator in OPERATIONS.items():
        able = [name for name in MANY if TECHNIQUES[name].need in offers(operator)]
        for size in sizes:
            progress(f"{operation}, all ranges of 1 to {size}")
            slides = max(4, min(100_000, 8_000_000 // size))
            values = source[: size + slides]
            asked, out = np.arange(1, size + 1), np.empty(len(values) * size)
            runs = {name: _bound(MANY[name], operator, values, asked, out) for name in able}
            speeds = in_turn(runs, rounds)
            for name, run in runs.items():
                yield {
                    "setting": "many ranges",
                    "operation": operation,
                    "size": size,
                    "technique": name,
                    "slides": len(values),
                    "answers_per_second": round(len(values) * size / speeds[name]),
                    "held": int(run()),
                }


def first_use(progress: Progress) -> Iterator[Row]:
    """Yield the seconds of a technique's first call in a new process: compiled, and read from disk."""
    for operation, operator in OPERATIONS.items():
        for name in (name for name, kind in TECHNIQUES.items() if kind.need in offers(operator)):
            progress(f"first use of {name} for {operation}")
            with TemporaryDirectory() as folder:
                compiled, kept = (_first_call(name, operator, folder) for _ in range(2))
            yield {
                "setting": "first use",
                "operation": operation,
                "technique": name,
                "compiled": round(compiled, 3),
                "from_disk": round(kept, 3),
            }


def _first_call(name: str, operator: Operator, folder: str) -> float:
    code = f"""
import time, numpy as np
from muntin.kernels.catalogue import reduce_ranges
from muntin.kernels.operators import {type(operator).__name__}
ends = np.arange(10)
start = time.perf_counter()
reduce_ranges({type(operator).__name__}(), np.ones(11), ends, ends + 1, by={name!r})
print(time.perf_counter() - start)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    return float(done.stdout)


def _bound(kernel: Callable[..., int], *arguments: Any) -> Callable[[], int]:
    return lambda: kernel(*arguments)


class Stretch(NamedTuple):
    """A stretch of slides: slide k reads the values from k + lo, or 0, to k + hi."""

    values: Any
    lo: int
    hi: int
    slides: int
    filling: int
    """How many slides at the start have a shorter range than the others."""


def _stretch(name: str, source: Any, size: int, slides: int, more: int) -> Stretch:
    """Give so many slides, and more by which the window fills and turns over.

    A technique whose slides take as many operations as the range has partials gets fewer slides, and a full range in
    each: nothing but the range decides what its slide costs.
    """
    if name == "naive":
        fewer = max(LEAST, min(slides, WORK // size))
        return Stretch(source[: fewer + size - 1], 0, size, fewer, 0)
    return Stretch(source[: slides + more], 1 - size, 1, slides + more, size - 1)


def _run_of(kernel: Callable[..., int], operator: Operator, stretch: Stretch) -> Callable[[], int]:
    return _bound(kernel, operator, stretch.values, stretch.lo, stretch.hi, np.empty(stretch.slides))


def in_turn(runs: dict[str, Callable[[], int]], rounds: int) -> dict[str, float]:
    """Give the median of the processor's seconds that each run takes, which others on the machine hardly change."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = process_time()
            run()
            times[name].append(process_time() - start)
    return {name: median(seconds) for name, seconds in times.items()}


def _timed(kernel: Callable[..., int], operator: Operator, stretch: Stretch) -> Any:
    """Give the nanoseconds of every slide with a full range; reading the clock is in it."""
    marks, out = np.zeros(stretch.slides, np.int64), np.empty(stretch.slides)
    timed = Timed(operator, marks)
    kernel(timed, stretch.values, stretch.lo, stretch.hi, out[:0])  # compiled
    start = perf_counter()
    kernel(timed, stretch.values, stretch.lo, stretch.hi, out)
    elapsed = perf_counter() - start
    tick = elapsed * 1e9 / max(1, int(marks[-1] - marks[0]))
    return np.diff(marks)[stretch.filling :] * tick
