"""What one-machine users would pick, on the same Parquet file: DuckDB and Polars, window by window and with panes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import gcd
from pathlib import Path

import duckdb
import polars as pl

import muntin as mt
from muntin.window import Window
from muntin_bench.experiments.spark import (
    Contender,
    Progress,
    asked,
    bench_session,
    events,
    in_turn,
    rounded,
    seconds,
    warmed,
)
from muntin_bench.record import Row
from muntin_bench.workload import random_gen, sequential_gen


def peers(folder: Path, rounds: int, progress: Progress, rows: int = 10_000_000) -> Iterator[Row]:
    """Yield times of Muntin, DuckDB and Polars in turn; MIN, one event per second."""
    spark = bench_session()
    asked_for = [mt.min("v")]
    df = warmed(events(spark, folder, rows), asked_for)
    file = str(next(iter(df.inputFiles())).removeprefix("file://").rsplit("/", 1)[0]) + "/*.parquet"
    sets = {
        "5 tumbling, 20 to 60 s": sequential_gen(5, True, 10),
        "10 tumbling, 20 to 110 s": sequential_gen(10, True, 10),
        "20 tumbling, 20 to 210 s": sequential_gen(20, True, 10),
        "10 tumbling, RandomGen": random_gen(10, True, 1),
        "10 hopping, slides 20 to 110 s": sequential_gen(10, False, 10),
        "20 hopping, RandomGen": random_gen(20, False, 1),
    }
    cores = spark.sparkContext.defaultParallelism
    for label, plain in sets.items():
        windows = seconds(plain)
        contenders: dict[str, Contender] = {
            **asked(df, windows, asked_for, ["auto"]),
            "DuckDB, each window": partial(duck, file, windows, cores),
            "DuckDB, panes by hand": partial(duck_panes, file, windows, cores),
            "Polars, each window": partial(polars_each, file, windows),
            "Polars, panes by hand": partial(polars_panes, file, windows),
        }
        times = in_turn(contenders, rounds)
        progress(f"{label}: {rounded(times)}")
        yield {"set": label, "windows": len(windows), "events": rows, "seconds": rounded(times)}


def duck(file: str, windows: list[Window], cores: int) -> int:
    """Aggregate window by window in DuckDB, and count the rows."""
    with duckdb.connect(config={"threads": cores}) as connection:
        rows = f"(SELECT key, epoch_us(ts) AS t, v FROM '{file}')"  # noqa: S608
        return sum(_duck_window(connection, rows, window) for window in windows)


def duck_panes(file: str, windows: list[Window], cores: int) -> int:
    """Aggregate panes once in DuckDB and every window from the panes, as a careful user writes it by hand."""
    pane = gcd(*(length for window in windows for length in (window.range, window.slide)))
    with duckdb.connect(config={"threads": cores}) as connection:
        connection.execute(
            f"CREATE TEMP TABLE panes AS SELECT key, epoch_us(ts) // {pane} * {pane} AS t, min(v) AS v "  # noqa: S608
            f"FROM '{file}' GROUP BY 1, 2"
        )
        return sum(_duck_window(connection, "panes", window) for window in windows)


def _duck_window(connection: duckdb.DuckDBPyConnection, table: str, window: Window) -> int:
    length, slide, _ = window.period
    copies = length // slide
    steps = "" if copies == 1 else f", range({copies}) AS steps(i)"
    back = "" if copies == 1 else f" - i * {slide}"
    query = f"SELECT key, t // {slide} * {slide}{back} AS s, min(v) AS v FROM {table}{steps} GROUP BY ALL"  # noqa: S608
    return int(connection.sql(query).to_arrow_table().num_rows)


def polars_each(file: str, windows: list[Window]) -> int:
    """Aggregate window by window in Polars, and count the rows."""
    source = pl.scan_parquet(file).select("key", "v", t=pl.col("ts").dt.epoch("us"))
    return sum(_polars_window(source, window) for window in windows)


def polars_panes(file: str, windows: list[Window]) -> int:
    """Aggregate panes once in Polars and every window from the panes."""
    pane = gcd(*(length for window in windows for length in (window.range, window.slide)))
    source = pl.scan_parquet(file).select("key", "v", t=pl.col("ts").dt.epoch("us") // pane * pane)
    panes = source.group_by("key", "t").agg(pl.col("v").min()).collect().lazy()
    return sum(_polars_window(panes, window) for window in windows)


def _polars_window(source: pl.LazyFrame, window: Window) -> int:
    length, slide, _ = window.period
    start = pl.col("t") // slide * slide
    parts = [source.select("key", "v", s=start - step * slide) for step in range(length // slide)]
    return pl.concat(parts).group_by("key", "s").agg(pl.col("v").min()).collect().height
