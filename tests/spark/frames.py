"""Windows of every kind by their plain definitions, in plain Python, over random rows: what Muntin is compared with."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import equal

S = 1_000_000
Row = dict[str, Any]


class Frame(NamedTuple):
    """An instance and its rows."""

    start: int
    end: int
    rows: Sequence[Row]
    begin: float | None = None
    stop: float | None = None


Definition = Callable[[Sequence[Row]], Iterator[Frame]]
"""Gives the instances of a window over the rows of one key, in order."""


def periodic(rows: Sequence[Row], length: int, slide: int, offset: int = 0) -> Iterator[Frame]:
    for start in range(*_grid(rows, length, slide, offset)):
        yield Frame(start, start + length, [row for row in rows if start <= row["t"] < start + length])


def _grid(rows: Sequence[Row], length: int, slide: int, offset: int) -> tuple[int, int, int]:
    first = (rows[0]["t"] - length - offset) // slide * slide + offset
    return first, rows[-1]["t"] + 1, slide


def sessions(rows: Sequence[Row], gap: int, longest: int = 10**18, aligned: bool = False) -> Iterator[Frame]:
    def bound(session: list[Row]) -> int:
        end = session[0]["t"] + longest
        return int(-(-end // longest) * longest if aligned else end)

    def end(session: list[Row]) -> int:
        return int(min(session[-1]["t"] + gap, bound(session)))

    session: list[Row] = []
    for row in rows:
        if session and (row["t"] > session[-1]["t"] + gap or row["t"] >= bound(session)):
            yield Frame(session[0]["t"], end(session), session)
            session = []
        session = [*session, row]
    yield Frame(session[0]["t"], end(session), session)


def counts(rows: Sequence[Row], length: int, slide: int) -> Iterator[Frame]:
    for begin in range(0, len(rows) - length + 1, slide):
        closer = rows[min(begin + length, len(rows) - 1)]
        yield Frame(rows[begin]["t"], closer["t"], rows[begin : begin + length], begin, begin + length)


def measures(rows: Sequence[Row], column: str, length: float, slide: float) -> Iterator[Frame]:
    number = int((rows[0][column] - length) // slide)
    while (begin := number * slide) <= rows[-1][column]:
        inside = [row for row in rows if begin <= row[column] < begin + length]
        beyond = [row for row in rows if row[column] >= begin + length]
        if inside and beyond:
            yield Frame(inside[0]["t"], beyond[0]["t"], inside, begin, begin + length)
        number += 1


def last_rows(rows: Sequence[Row], count: int, slide: int) -> Iterator[Frame]:
    for end in sorted({(row["t"] // slide + 1) * slide for row in rows}):
        before = [row for row in rows if row["t"] < end]
        if len(before) >= count:
            yield Frame(before[-count]["t"], end, before[-count:], len(before) - count, len(before))


def last_time(rows: Sequence[Row], length: int, every: int) -> Iterator[Frame]:
    for count in range(every, len(rows) + 1, every):
        end = rows[min(count, len(rows) - 1)]["t"]
        yield Frame(end - length, end, [row for row in rows[:count] if row["t"] >= end - length])


def cumulating(rows: Sequence[Row], length: int, step: int) -> Iterator[Frame]:
    for begin in sorted({row["t"] // length * length for row in rows}):
        for end in range(begin + step, begin + length + 1, step):
            yield Frame(begin, end, [row for row in rows if begin <= row["t"] < end])


def landmark(rows: Sequence[Row], since: int, step: int) -> Iterator[Frame]:
    for end in range(since + step, rows[-1]["t"] + step + 1, step):
        yield Frame(since, end, [row for row in rows if since <= row["t"] < end])


def snapshot(rows: Sequence[Row]) -> Iterator[Frame]:
    for time, same in groupby(rows, lambda row: row["t"]):
        yield Frame(time, time, list(same))


def begun(rows: Sequence[Row], holds: Callable[[Row], bool]) -> Iterator[Frame]:
    """Begin a window with every row for which a condition holds."""
    marks = [place for place, row in enumerate(rows) if holds(row)]
    for lo, hi in pairwise([*marks, len(rows)]):
        yield Frame(rows[lo]["t"], rows[min(hi, len(rows) - 1)]["t"], rows[lo:hi])


def ended(rows: Sequence[Row], full: Callable[[list[Row]], bool]) -> Iterator[Frame]:
    """End a window with the row at which it is full."""
    own: list[Row] = []
    for place, row in enumerate(rows):
        own = [*own, row]
        if full(own) or place == len(rows) - 1:
            yield Frame(own[0]["t"], row["t"], own)
            own = []


def runs(rows: Sequence[Row], holds: Callable[[Row], bool], lasts: int = 0, counts: int = 0) -> Iterator[Frame]:
    place = 0
    for is_run, group in groupby(rows, holds):
        own = list(group)
        place += len(own)
        end = rows[min(place, len(rows) - 1)]["t"]
        if is_run and len(own) >= counts and end - own[0]["t"] >= lasts:
            yield Frame(own[0]["t"], end, own)


def moves(rows: Sequence[Row], column: str, distance: Any) -> Iterator[Frame]:
    own: list[Row] = []
    for row in rows:
        known = [other[column] for other in own if other[column] is not None]
        if known and row[column] is not None and abs(row[column] - known[0]) > distance:
            yield Frame(own[0]["t"], row["t"], own)
            own = []
        own = [*own, row]
    yield Frame(own[0]["t"], rows[-1]["t"], own)


def values(rows: Sequence[Row], column: str) -> list[Any]:
    return [row[column] for row in rows if row[column] is not None]


def definitions(zero: int) -> Mapping[Any, Definition]:
    """Give windows of every kind with their definitions; landmarks are counted from a time."""
    return {
        mt.tumbling("10 s"): partial(periodic, length=10 * S, slide=10 * S),
        mt.hopping("30 s", "7 s", offset="3 s"): partial(periodic, length=30 * S, slide=7 * S, offset=3 * S),
        mt.session_window("5 s"): partial(sessions, gap=5 * S),
        mt.session_window("9 s", longest="20 s"): partial(sessions, gap=9 * S, longest=20 * S),
        mt.session_window("9 s", longest="20 s", aligned=True): partial(
            sessions, gap=9 * S, longest=20 * S, aligned=True
        ),
        mt.tumbling(mt.rows(4)): partial(counts, length=4, slide=4),
        mt.hopping(mt.rows(7), mt.rows(3)): partial(counts, length=7, slide=3),
        mt.hopping(10, 5, on="km"): partial(measures, column="km", length=10, slide=5),
        mt.tumbling(2.5, on="km", id="short"): partial(measures, column="km", length=2.5, slide=2.5),
        mt.hopping(6, 4, on="steps"): partial(measures, column="steps", length=6, slide=4),
        mt.hopping(mt.rows(3), "5 s"): partial(last_rows, count=3, slide=5 * S),
        mt.hopping("20 s", mt.rows(4)): partial(last_time, length=20 * S, every=4),
        mt.punctuated("flag"): partial(begun, holds=lambda row: row["flag"]),
        mt.punctuated(F.col("n") > 30, ends=True, id="ends"): partial(
            ended, full=lambda own: own[-1]["n"] is not None and own[-1]["n"] > 30
        ),
        mt.cumulating("1 minute", "20 s"): partial(cumulating, length=60 * S, step=20 * S),
        mt.landmark(since=zero + 30 * S, step="25 s"): partial(landmark, since=zero + 30 * S, step=25 * S),
        mt.snapshot(): snapshot,
        mt.while_("flag"): partial(runs, holds=_is_flagged),
        mt.while_("flag", at_least="3 s", id="long"): partial(runs, holds=_is_flagged, lasts=3 * S),
        mt.while_("flag", at_least=mt.rows(2), id="many"): partial(runs, holds=_is_flagged, counts=2),
        mt.delta("n", 12): partial(moves, column="n", distance=12),
        mt.delta("m", 1.5, id="money"): partial(moves, column="m", distance=Decimal("1.5")),
        mt.until(mt.sum("n"), 60): partial(ended, full=lambda own: sum(values(own, "n")) >= 60),
        mt.until(mt.count(), 5, id="five"): partial(ended, full=lambda own: len(own) >= 5),
        mt.until(mt.count("text"), 3, id="texts"): partial(ended, full=lambda own: len(values(own, "text")) >= 3),
        mt.until(mt.max("n"), 45, id="high"): partial(ended, full=lambda own: max(values(own, "n"), default=0) >= 45),
        mt.until(mt.min("n"), 4, id="low"): partial(ended, full=lambda own: min(values(own, "n"), default=9) <= 4),
    }


def _is_flagged(row: Row) -> bool:
    return row["flag"] is True


SCHEMA = {
    "t": pa.int64(),
    "key": pa.string(),
    "zone": pa.int32(),
    "turn": pa.int64(),
    "n": pa.int32(),
    "x": pa.float64(),
    "m": pa.decimal128(9, 2),
    "text": pa.string(),
    "flag": pa.bool_(),
    "km": pa.float64(),
    "steps": pa.int64(),
}


def random_rows(r: random.Random, zero: int, *, unique_times: bool) -> list[Row]:
    """Give rows in order of time and turn, with ties, gaps and nulls; those without a time come last."""

    def maybe(value: Any, share: float = 0.15) -> Any:
        return None if r.random() < share else value

    rows: list[Row] = []
    time, km, steps = zero + r.randrange(60) * S, r.random() * 20, r.randrange(10)
    for turn in range(r.choice([1, 40, 150, 150])):
        time += r.choice([1, 2, 3] if unique_times else [0, 0, 1, 2, 5]) * S // 2 + (40 * S if r.random() < 0.03 else 0)
        km += r.choice([0.0, 0.5, 1.25, 3.0])
        steps += r.choice([0, 1, 2, 15])
        rows.append(
            {
                "t": time,
                "key": maybe(r.choice("abc")),
                "zone": maybe(r.randrange(2)),
                "turn": turn,
                "n": maybe(r.randrange(50)),
                "x": maybe(r.gauss(1000, 3)),
                "m": maybe(Decimal(r.randrange(-400, 400)).scaleb(-2)),
                "text": maybe(r.choice(["", "b", "ab", "aa"])),
                "flag": maybe(r.random() < 0.4),
                "km": km,
                "steps": steps,
            }
        )
    timeless = [row | {"t": None, "turn": -place - 1} for place, row in enumerate(rows) if r.random() < 0.04]
    return [*rows, *timeless]


def frame_of(spark: SparkSession, rows: Sequence[Row], kind: str = "timestamp", parts: int = 2) -> DataFrame:
    """Give rows in no order, with their time as a timestamp of a kind."""
    shuffled = random.Random(len(rows)).sample(rows, len(rows))
    table = pa.table({name: pa.array([row[name] for row in shuffled], kind) for name, kind in SCHEMA.items()})
    frame = spark.createDataFrame(table).repartition(parts)
    time = "timestamp_micros(t) AS ts" if kind == "timestamp" else "CAST(timestamp_micros(t) AS timestamp_ntz) AS ts"
    return frame.selectExpr(time, *(name for name in SCHEMA if name != "t"))


AGGREGATES: dict[Any, Callable[[Sequence[Row]], Any]] = {
    mt.count().alias("rows"): len,
    mt.min("turn").alias("from_turn"): lambda rows: min(row["turn"] for row in rows),
    mt.max("turn").alias("to_turn"): lambda rows: max(row["turn"] for row in rows),
    mt.sum("n"): lambda rows: sum(values(rows, "n")) if values(rows, "n") else None,
    mt.count("n"): lambda rows: len(values(rows, "n")),
    mt.avg("m"): lambda rows: _average(values(rows, "m")),
    mt.sum("m"): lambda rows: sum(values(rows, "m")) if values(rows, "m") else None,
    mt.stddev("x"): lambda rows: statistics.stdev(values(rows, "x")) if len(values(rows, "x")) > 1 else None,
    mt.max("text"): lambda rows: max(values(rows, "text"), default=None),
    mt.min("x"): lambda rows: min(values(rows, "x"), default=None),
}
IN_ORDER: dict[Any, Callable[[Sequence[Row]], Any]] = {
    mt.first("text"): lambda rows: rows[0]["text"],
    mt.last("n"): lambda rows: rows[-1]["n"],
}
"""Aggregates that rows of one time would leave open."""


def _average(given: list[Decimal]) -> Decimal | None:
    return (sum(given) / Decimal(len(given))).quantize(Decimal("1e-6"), ROUND_HALF_UP) if given else None


Result = tuple[Any, ...]


def expected(
    rows: Iterable[Row],
    by: Sequence[str],
    windows: Mapping[Any, Definition],
    aggregates: Mapping[Any, Callable[[Sequence[Row]], Any]],
    *,
    measured: bool,
) -> list[Result]:
    """Give the result rows of all windows; empty instances have none."""
    timed = [row for row in rows if row["t"] is not None]
    out = []
    for key in {tuple(row[name] for name in by) for row in timed}:
        own = sorted(
            (row for row in timed if tuple(row[name] for name in by) == key), key=lambda r: (r["t"], r["turn"])
        )
        for window, define in windows.items():
            for frame in define(own):
                if frame.rows:
                    own_measure = [_float(frame.begin), _float(frame.stop)] if measured else []
                    results = [evaluate(frame.rows) for evaluate in aggregates.values()]
                    out.append((window.label, frame.start, frame.end, *own_measure, *key, *results))
    return _sorted(out)


def _float(number: float | None) -> float | None:
    return None if number is None else float(number)


def given(result: DataFrame) -> list[Result]:
    """Give the result rows of Muntin, with times as microseconds and measures as floats."""
    names = [name for name in result.columns if name not in ("window_id", "window", "window_begin", "window_end")]
    times = [f"unix_micros(CAST(window.{edge} AS timestamp))" for edge in ("start", "end")]
    own = [f"CAST({name} AS double)" for name in result.columns if name in ("window_begin", "window_end")]
    return _sorted(map(tuple, result.selectExpr("window_id", *times, *own, *(f"`{name}`" for name in names)).collect()))


def _sorted(rows: Iterable[Result]) -> list[Result]:
    return sorted(
        rows, key=lambda row: tuple(f"{value:.3f}" if isinstance(value, float) else repr(value) for value in row)
    )


def assert_same_rows(actual: list[Result], wanted: list[Result], context: object = "") -> None:
    """Compare result rows; floats to 1e-9, deviations to 1e-6."""
    for label in {row[0] for row in (*actual, *wanted)}:
        ours, theirs = ([row for row in rows if row[0] == label] for rows in (actual, wanted))
        for one, other in zip(ours, theirs, strict=False):
            assert len(one) == len(other), (label, context)
            same = all(equal(a, b, 1e-6) for a, b in zip(one, other, strict=True))
            assert same, f"{one} != {other} {context}"
        assert len(ours) == len(theirs), (label, context)
