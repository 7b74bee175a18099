"""make demo: an IoT stream, two queries and a file of SQL: rows, plans, and the ratio to the plain Spark plan."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from math import isclose
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.choices import Strategy
from muntin.cli.terminal import first_rows, print_plan, show
from muntin.plan.show.shown import Shown
from muntin.plan.show.text import explain
from muntin.window import Window

ROWS = 3_000_000
DEVICES = 50

PAPER_QUERY = [
    mt.tumbling("20 minutes", id="20 min"),
    mt.tumbling("30 minutes", id="30 min"),
    mt.tumbling("40 minutes", id="40 min"),
]
DASHBOARD = [
    mt.tumbling("1 minute"),
    mt.tumbling("5 minutes"),
    mt.tumbling("10 minutes"),
    mt.tumbling("15 minutes"),
    mt.tumbling("30 minutes"),
    mt.tumbling("1 hour"),
    mt.hopping("1 hour", "5 minutes"),
    mt.hopping("2 hours", "10 minutes"),
    mt.hopping("6 hours", "30 minutes"),
    mt.tumbling("1 day"),
]


SUMMARY: list[Aggregate] = [
    mt.count("temperature").alias("readings"),
    mt.min("temperature").alias("low"),
    mt.max("temperature").alias("high"),
    mt.avg("temperature").alias("mean"),
]

START = 1_767_225_600
"""When the readings begin, in seconds since 1970: 2026-01-01."""
SHOWN_DEVICE, SHOWN_END = "device-00", START + 86_400
"""Whose rows are shown: those of the device that sends most, for the windows that end after a day, as all do."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that a query takes Muntin and plain Spark, and whether they gave the same rows."""

    muntin: float
    plain: float
    rows: int
    same: bool

    @property
    def ratio(self) -> float:
        """How many times as fast Muntin is."""
        return self.plain / self.muntin


def iot_stream(spark: SparkSession, rows: int = ROWS) -> DataFrame:
    """Make readings of devices over two days: gaps, late and out-of-order rows, nulls; the same every time."""
    draw = [F.rand(seed) for seed in range(5)]
    second = F.col("id") * F.lit(2 * 86_400 / rows)
    late = F.when(draw[0] < 0.02, draw[1] * 600).otherwise(draw[1] * 2)  # most arrive within two seconds
    micros = ((second - late) * 1_000_000).cast("long") + F.lit(START * 1_000_000)
    day = F.pmod(second, F.lit(86_400.0)) / 86_400
    device = (draw[2] * draw[2] * DEVICES).cast("int")  # some devices send more than others
    silent = (device % 7 == 3) & day.between(0.5, 0.6)
    warmth = 15 + 8 * F.sin(day * 6.2832) + device / 10 + F.randn(9)
    return (
        spark.range(0, rows, 1, 4)
        .select(
            F.timestamp_micros(micros).alias("ts"),
            F.format_string("device-%02d", device).alias("device"),
            F.when(draw[3] >= 0.01, F.round(warmth, 2)).alias("temperature"),
            silent.alias("silent"),
        )
        .where(~F.col("silent"))
        .drop("silent")
    )


def demo(spark: SparkSession, console: Console | None = None, rows: int = ROWS) -> None:
    """Run the demo."""
    out = console or Console()
    with tempfile.TemporaryDirectory() as folder:
        with _step(out, f"writing {rows:,} readings of {DEVICES} devices over two days"):
            path = str(Path(folder) / "iot.parquet")
            iot_stream(spark, rows).write.parquet(path)
        df = spark.read.parquet(path)
        low = [mt.min("temperature").alias("low")]
        _show(out, df, "the factor-windows paper's query: three windows", PAPER_QUERY, low)
        times = _show(out, df, "a dashboard: ten windows", DASHBOARD, SUMMARY)
        _show_sql(out, df)
    out.rule()
    out.print(_remembered(times, len(DASHBOARD)), style="bold green", highlight=False)


def _show(out: Console, df: DataFrame, title: str, windows: list[Window], aggregates: list[Aggregate]) -> Times:
    """Show some rows of a query, its plan, and the times that it takes Muntin and plain Spark."""
    asked: dict[str, Any] = {"time": "ts", "by": "device", "windows": windows, "aggregates": aggregates}
    out.rule(f"[bold]{title}")
    result = mt.aggregate(df, **asked)
    here = (F.col("device") == SHOWN_DEVICE) & (F.col("window.end") == F.timestamp_seconds(F.lit(SHOWN_END)))
    values = [F.round(aggregate.name, 2).alias(aggregate.name) for aggregate in aggregates]
    shown = result.where(here).orderBy(F.desc("window.start"), "window_id")
    with _step(out, "some rows (the kernels are compiled when first used)"):
        rows = first_rows(shown.select("window_id", F.col("window.start").alias("from"), *values), len(windows))
    show(out, rows, f"{SHOWN_DEVICE}: all windows that end one day after the first reading")
    out.print()
    _show_plan(out, mt.explain(df, **asked))
    with _step(out, "measuring: Muntin and plain Spark in turn, median of three"):
        times = _measured(df, asked)
    told = f"Muntin {times.muntin:.2f} s, plain Spark {times.plain:.2f} s, {times.ratio:.1f} times as fast"
    out.print(f"\n{len(windows)} windows: {told}\n", style="bold green", highlight=False)
    return times


def _show_plan(out: Console, plan: Shown) -> None:
    """Show the steps of a plan, without the others that were weighed."""
    print_plan(out, explain(replace(plan.outline(), foot=())))
    out.print("mt.explain also gives the costs of the other ways.", style="dim", highlight=False)
    out.print()


def _measured(df: DataFrame, asked: dict[str, Any]) -> Times:
    """Compute all rows by both plans in turn, and compare what came out."""
    seconds: dict[Strategy, list[float]] = {"auto": [], "independent": []}
    given: dict[Strategy, dict[str, Any]] = {}
    for _ in range(3):
        for strategy, taken in seconds.items():
            result, seen = mt.aggregate(df, **asked, strategy=strategy), Observation()
            exact = [name for name in result.columns if name != "mean"]
            checks = [F.count(F.lit(1)).alias("rows"), F.sum(F.xxhash64(*exact).cast("decimal(38, 0)")).alias("hash")]
            checks += [F.sum("mean").alias("means")] if "mean" in result.columns else []
            start = time.perf_counter()
            result.observe(seen, *checks).write.format("noop").mode("overwrite").save()
            taken.append(time.perf_counter() - start)
            given[strategy] = seen.get
    ours, plain = given["auto"], given["independent"]
    same = all(ours[name] == plain[name] or _close(ours[name], plain[name]) for name in ours)
    muntin, spark = (sorted(taken)[1] for taken in seconds.values())
    return Times(muntin, spark, ours["rows"], same)


def _close(one: Any, other: Any) -> bool:
    """Tell whether two sums of floats agree: Spark adds in any order."""
    return isinstance(one, float) and isinstance(other, float) and isclose(one, other, rel_tol=1e-9)


def _remembered(times: Times, windows: int) -> str:
    """Say the one sentence that a visitor should remember."""
    rows = f"the same {times.rows:,} rows" if times.same else "DIFFERENT ROWS, which is a bug"
    return (
        f"{windows} windows in {times.muntin:.1f} s instead of {times.plain:.1f} s: on this machine, Muntin was "
        f"{times.ratio:.1f} times as fast as plain Spark, and gave {rows}."
    )


def _show_sql(out: Console, df: DataFrame) -> None:
    """Evaluate the statements of a file together, as `muntin run demo.sql --input readings=…` does."""
    text = files("muntin.cli").joinpath("demo.sql").read_text(encoding="utf-8")
    out.rule("[bold]a file of SQL: four statements, evaluated together")
    out.print(Syntax(text, "sql", background_color="default", word_wrap=True))
    results = mt.sql(text, spark=df.sparkSession, readings=df)
    try:
        for name, frame in results.items():
            with _step(out, f"first rows of {name}"):
                rows = first_rows(frame.orderBy("until"), 3)
            show(out, rows)
            out.print()
        print_plan(out, results.plan.explain())
    finally:
        results.release()


@contextmanager
def _step(out: Console, text: str) -> Iterator[None]:
    """Show that something is going on, and for how long."""
    columns = SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=out) as shown:
        step = shown.add_task(text, total=None)
        yield
        shown.update(step, total=1, completed=1)
