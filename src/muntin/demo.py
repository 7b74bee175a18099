"""make demo: an IoT stream, two queries and a file of SQL, the plans, rows, and the ratio to the plain Spark plan."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.choices import Strategy
from muntin.terminal import first_rows, show
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


def iot_stream(spark: SparkSession, rows: int = ROWS) -> DataFrame:
    """Make readings of devices over two days: gaps, late and out-of-order rows, nulls; the same every time."""
    draw = [F.rand(seed) for seed in range(5)]
    second = F.col("id") * F.lit(2 * 86_400 / rows)
    late = F.when(draw[0] < 0.02, draw[1] * 600).otherwise(draw[1] * 2)  # most arrive within two seconds
    micros = ((second - late) * 1_000_000).cast("long") + F.lit(1_767_225_600_000_000)
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


def demo(console: Console | None = None, rows: int = ROWS) -> None:
    """Run the demo."""
    out = console or Console()
    with tempfile.TemporaryDirectory() as folder:
        with _step(out, "starting Spark"):
            spark = mt.session(app="muntin demo", config={"spark.driver.memory": "3g"})
        with _step(out, f"writing {rows:,} readings of {DEVICES} devices over two days"):
            path = str(Path(folder) / "iot.parquet")
            iot_stream(spark, rows).write.parquet(path)
        df = spark.read.parquet(path)
        low = [mt.min("temperature").alias("low")]
        _show(out, df, "the factor-windows paper's query", PAPER_QUERY, low)
        summary = [mt.count("temperature"), mt.min("temperature"), mt.max("temperature"), mt.avg("temperature")]
        _show(out, df, "a dashboard of ten windows", DASHBOARD, summary)
        _show_sql(out, df)
        spark.stop()


def _show(out: Console, df: DataFrame, title: str, windows: Iterable[Window], aggregates: Iterable[Aggregate]) -> None:
    asked: dict[str, Any] = {"time": "ts", "by": "device", "windows": list(windows), "aggregates": list(aggregates)}
    out.rule(f"[bold]{title}")
    result = mt.aggregate(df, **asked)
    with _step(out, "first rows (the kernels are compiled when first used)"):
        first = result.orderBy("window.start", "window_id", "device").limit(6).collect()
    table = Table()
    for name in result.columns:
        table.add_column(name)
    for row in first:
        window = f"{row['window']['start']:%d %b %H:%M} to {row['window']['end']:%d %b %H:%M}"
        rest = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row[2:]]
        table.add_row(row["window_id"], window, *rest)
    out.print(table)
    out.print(mt.explain(df, **asked).explain(), markup=False, highlight=False)
    times: dict[Strategy, list[float]] = {"auto": [], "independent": []}
    with _step(out, "measuring: Muntin and the plain Spark plan in turn, three times"):
        for _ in range(3):
            for strategy, seconds in times.items():
                start = time.perf_counter()
                mt.aggregate(df, **asked, strategy=strategy).write.format("noop").mode("overwrite").save()
                seconds.append(time.perf_counter() - start)
    ours, plain = (sorted(seconds)[1] for seconds in times.values())
    out.print(
        f"\n[bold green]Muntin {ours:.2f} s, plain Spark {plain:.2f} s: {plain / ours:.1f} times faster[/] "
        f"({len(asked['windows'])} windows, median of three)\n"
    )


def _show_sql(out: Console, df: DataFrame) -> None:
    """Evaluate the statements of a file together, as `muntin run demo.sql --input readings=…` does."""
    text = files("muntin").joinpath("demo.sql").read_text(encoding="utf-8")
    out.rule("[bold]a file of SQL: four statements, evaluated together")
    out.print(Syntax(text, "sql", background_color="default", word_wrap=True))
    results = mt.sql(text, spark=df.sparkSession, readings=df)
    try:
        for name, frame in results.items():
            with _step(out, f"first rows of {name}"):
                rows = first_rows(frame, 3)
            show(out, rows, name)
        out.print(results.plan.explain(), markup=False, highlight=False)
    finally:
        results.release()


def _step(out: Console, text: str) -> AbstractContextManager[object]:
    """Show that something is going on, and for how long."""
    shown = Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=out)
    shown.add_task(text, total=None)
    return shown
