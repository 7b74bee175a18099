"""Stream plans: every shape over dense and sparse streams, in smaller and larger micro-batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from muntin.duration import parse_duration
from muntin.plan.physical.prices import Amounts
from muntin.plan.physical.stream import PERIODIC, StreamShape, stream_amounts
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin_bench.experiments.calibration.trial import Trial
from muntin_bench.experiments.stream import BATCHES, Setting, hopping, run, stream_files, stream_session, tumbling

SHAPES = {"plain": StreamShape.INDEPENDENT} | {
    shape.name.lower(): shape for shape in PERIODIC if shape is not StreamShape.INDEPENDENT
}
"""The shapes by the names of their contenders."""
COLUMNS = 3
"""Partials of the least value, the sum and the count."""


def stream_designs() -> Iterator[Setting]:
    """Yield few streams and windows among which every unit of work is now much, now little."""
    for name, windows, events, per_slice, keys in (
        ("5 tumbling, dense, small micro-batches", tumbling(5), 300_000, 100, 100),
        ("20 tumbling, dense, large micro-batches", tumbling(20), 2_000_000, 100, 100),
        ("20 tumbling, sparse, small micro-batches", tumbling(20), 300_000, 6, 100),
        ("5 tumbling, sparse, large micro-batches", tumbling(5), 2_000_000, 6, 100),
        ("5 hopping, dense", hopping(5, 6), 600_000, 100, 100),
        ("5 hopping, sparse", hopping(5, 6), 300_000, 6, 100),
        ("10 tumbling, sparse, 10,000 keys", tumbling(10), 600_000, 6, 10_000),
    ):
        yield Setting(name, windows, events, per_slice, keys, tuple(SHAPES))


def stream_trials(folder: Path, rounds: int) -> Iterator[Trial]:
    """Yield the time and the units of work of every stream in every shape.

    The time is that of the median micro-batch, as often as there are micro-batches: the first one also starts workers.
    """
    spark = stream_session()
    warm = Setting("warm-up", tumbling(3), 100_000, 100, 100)
    for name in SHAPES:
        run(spark, stream_files(spark, folder, warm), warm, name)
    for setting in stream_designs():
        source = stream_files(spark, folder, setting)
        runs = [{name: run(spark, source, setting, name) for name in SHAPES} for _ in range(rounds)]
        for name, shape in SHAPES.items():
            middle = sorted(each[name]["batch_p50_ms"] for each in runs)[rounds // 2]
            query = {"part": "stream", "stream": setting.name, "events": setting.events, "shape": name}
            yield Trial(query, stream_units(setting, shape), middle / 1000 * BATCHES)


def stream_units(setting: Setting, shape: StreamShape) -> Amounts:
    """Count the units of work of a stream in a shape, in micro-batches of their true size."""
    work = Work(setting.statistics, COLUMNS, 1)
    stream = StreamWork(work, parse_duration(setting.watermark))
    return stream_amounts(stream, setting.windows, shape)[0]
