"""Joins over time for three ranges at once, beside what a Spark user writes today: a join for each range."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.choices import Direction
from muntin.duration import DAY, HOUR, parse_duration
from muntin_bench.experiments.spark import SECOND, Contender, Progress, bench_session, consume, in_turn, rounded
from muntin_bench.record import Row

BEGIN = 1_700_000_000 * SECOND
FILES = 12
"""Files of a stream, one for each micro-batch."""
DELAY = "1 hour"
LEFT_SCHEMA = "user int, shown timestamp, ad int"
RIGHT_SCHEMA = "user int, bought timestamp, amount double"


@dataclass(frozen=True)
class Case:
    """Two inputs, and the ranges that are asked for together."""

    name: str
    left: int
    """Rows of the left side."""
    right: int
    users: int
    span: int
    """Microseconds over which rows are spread at random."""
    within: tuple[str, ...]
    direction: Direction = "forward"
    broadcast: bool = False
    """Whether Spark may send a small side to all tasks, which spares it what joins can share."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """The ranges in microseconds."""
        return tuple(int(parse_duration(text)) for text in self.within)


ATTRIBUTION = ("1 hour", "1 day", "30 days")
EVEN = ("10 days", "20 days", "30 days")
HOT = "20 hot keys, short ranges"
"""The case that plain joins take hours for: all rows of a key meet."""
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"


def cases(rows: int) -> tuple[Case, ...]:
    """Give the inputs of every row of the batch table; so many rows on the left side."""
    return (
        Case("attribution", rows, rows // 5, rows // 20, 180 * DAY, ATTRIBUTION),
        Case("attribution, both directions", rows, rows // 5, rows // 20, 180 * DAY, ATTRIBUTION, "both"),
        Case("attribution, orders broadcast", rows, rows // 5, rows // 20, 180 * DAY, ATTRIBUTION, broadcast=True),
        Case("as many orders as impressions", rows, rows, rows // 20, 180 * DAY, ATTRIBUTION),
        Case(HOT, rows, rows // 5, 20, 30 * DAY, ("10 seconds", "1 minute", "10 minutes")),
    )


def streams(rows: int) -> tuple[Case, ...]:
    """Give the inputs of every row of the table of streams."""
    half = (rows // 2, rows // 2, rows // 20, 90 * DAY)
    return (
        Case("even ranges", *half, EVEN, "both"),
        Case("attribution ranges", *half, ATTRIBUTION, "both"),
    )


def join(folder: Path, rounds: int, progress: Progress, rows: int = 4_000_000) -> Iterator[Row]:
    """Yield times of three joins in plain Spark, of the same by hand over stretches of time, and of one mt.join."""
    spark = bench_session()
    usual = spark.conf.get(THRESHOLD)
    for case in cases(rows):
        spark.conf.set(THRESHOLD, str(usual) if case.broadcast else "-1")
        left, right = inputs(spark, folder, case)
        in_turn(contenders(left, right, case), 1)  # nobody pays for what is compiled and started only once
        times = in_turn(contenders(left, right, case), rounds)
        pairs = asked(left, right, case).count()
        progress(f"{case.name}: {rounded(times)}, {pairs:,} pairs")
        yield {"part": "batch", **_told(case), "pairs": pairs, "seconds": rounded(times)}
    spark.conf.set(THRESHOLD, str(usual))
    for case in streams(rows // 10):
        states = {name: _streamed(spark, folder, case, name) for name in ("plain", "muntin")}
        progress(f"stream, {case.name}: {states}")
        yield {"part": "stream", **_told(case), "states": states}


def _told(case: Case) -> Row:
    return {
        "case": case.name,
        "left": case.left,
        "right": case.right,
        "users": case.users,
        "within": list(case.within),
        "direction": case.direction,
    }


def inputs(spark: SparkSession, folder: Path, case: Case) -> tuple[DataFrame, DataFrame]:
    """Write, once, and read impressions and orders of users at random times."""
    return (
        _rows(spark, folder, case, case.left, 100, ("shown", "ad"), F.col("id").cast("int")),
        _rows(spark, folder, case, case.right, 300, ("bought", "amount"), F.rand(500)),
    )


def _rows(
    spark: SparkSession, folder: Path, case: Case, rows: int, seed: int, names: tuple[str, str], value: Any
) -> DataFrame:
    path = folder / f"join_{names[0]}_{rows}_{case.users}_{case.span // HOUR}.parquet"
    if not (path / "_SUCCESS").exists():
        micros = (F.rand(seed) * F.lit(case.span)).cast("long") + F.lit(BEGIN)
        user = (F.rand(seed + 100) * F.lit(case.users)).cast("int")  # partition p draws with seed + p
        made = spark.range(0, rows, 1, 2).select(
            user.alias("user"), F.timestamp_micros(micros).alias(names[0]), value.alias(names[1])
        )
        made.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def contenders(left: DataFrame, right: DataFrame, case: Case) -> dict[str, Contender]:
    """Make contenders of a case; planning and the look at the first rows count."""
    made: dict[str, Contender] = {
        "plain": lambda: consume(plain(left, right, case)),
        "by_hand": lambda: consume(by_hand(left, right, case)),
        "muntin": lambda: consume(asked(left, right, case)),
    }
    return {name: contender for name, contender in made.items() if name != "plain" or case.name != HOT}


def asked(left: DataFrame, right: DataFrame, case: Case) -> DataFrame:
    """Ask for all ranges at once."""
    out: DataFrame = mt.join(
        left, right, "user", "shown", "bought", within=case.within, direction=case.direction, most_pairs=10**12
    )
    return out


def plain(left: DataFrame, right: DataFrame, case: Case) -> DataFrame:
    """Write what a Spark user writes: for every range a join on the key and the distance."""
    return _union(case, lambda length: _joined(left, right, case, length))


def by_hand(left: DataFrame, right: DataFrame, case: Case) -> DataFrame:
    """Write the same with rows that meet by key and stretch of time, every range with stretches of its own length."""
    return _union(case, lambda length: _bucketed(left, right, case, length))


def _union(case: Case, joined: Callable[[int], DataFrame]) -> DataFrame:
    branches = [
        joined(length).select(F.lit(text).alias("within"), "l.user", "shown", "ad", "bought", "amount")
        for text, length in zip(case.within, case.lengths, strict=True)
    ]
    return reduce(DataFrame.union, branches)


def _near(case: Case, length: int) -> str:
    text = f"INTERVAL {length // SECOND} SECONDS"
    low = "shown" if case.direction == "forward" else f"shown - {text}"
    return f"l.user = r.user AND bought >= {low} AND bought <= shown + {text}"


def _joined(left: DataFrame, right: DataFrame, case: Case, length: int) -> DataFrame:
    return left.alias("l").join(right.alias("r"), F.expr(_near(case, length)))


def _bucketed(left: DataFrame, right: DataFrame, case: Case, length: int) -> DataFrame:
    """Put every order into the bucket of its time and the neighbours, and join by bucket as well."""
    seconds = length // SECOND
    before, after = (1, 0) if case.direction == "forward" else (1, 1)
    one = left.withColumn("bucket", F.expr(f"unix_seconds(shown) div {seconds}"))
    own = f"unix_seconds(bought) div {seconds}"
    other = right.withColumn("bucket", F.expr(f"explode(sequence({own} - {before}, {own} + {after}))"))
    return one.alias("l").join(other.alias("r"), F.expr(f"l.bucket = r.bucket AND {_near(case, length)}"))


def _streamed(spark: SparkSession, folder: Path, case: Case, name: str) -> Row:
    """Run the joins of one contender over streams of the same rows; give time and the most rows in state."""
    sources = [_files(spark, folder, case, frame) for frame in inputs(spark, folder, case)]
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:  # Spark may be writing there still
        start = time.perf_counter()
        queries = []
        for number, length in enumerate(case.lengths if name == "plain" else case.lengths[:1]):
            left, right = (
                _stream(spark, source, schema)
                for source, schema in zip(sources, (LEFT_SCHEMA, RIGHT_SCHEMA), strict=True)
            )
            out = _joined(left, right, case, length).drop("user") if name == "plain" else asked(left, right, case)
            writer = out.writeStream.format("noop").option("checkpointLocation", f"{place}/{number}")
            queries.append(writer.trigger(availableNow=True).start())
            queries[-1].awaitTermination()
        reports = [query.recentProgress for query in queries]
        return {
            "seconds": round(time.perf_counter() - start, 3),
            "state_rows": sum(_most(each, "numRowsTotal") for each in reports),
            "state_bytes": sum(_most(each, "memoryUsedBytes") for each in reports),
        }


def _most(progress: list[Any], measure: str) -> int:
    return max((sum(op[measure] for op in report["stateOperators"]) for report in progress), default=0)


def _stream(spark: SparkSession, source: Path, schema: str) -> DataFrame:
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    return frame.withWatermark("shown" if "shown" in schema else "bought", DELAY)


def _files(spark: SparkSession, folder: Path, case: Case, rows: DataFrame) -> Path:
    """Write, once, the rows of a stream in one file for each micro-batch, in order of time."""
    column = rows.columns[1]
    path = folder / f"join_stream_{column}_{case.left}_{case.users}"
    if (path / "done").exists():
        return path / "events"
    shutil.rmtree(path, ignore_errors=True)
    (path / "events").mkdir(parents=True)
    step = case.span // FILES // SECOND + 1
    for number in range(FILES):
        part = f"(unix_seconds({column}) - {BEGIN // SECOND}) div {step} = {number}"
        rows.where(part).coalesce(1).write.parquet(str(path / "parts" / f"{number:03}"))
        (written,) = (path / "parts" / f"{number:03}").glob("*.parquet")
        written.rename(path / "events" / f"{number:03}.parquet")
    (path / "done").touch()
    return path / "events"
