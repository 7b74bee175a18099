"""muntin demo --stream: the same dashboard on a stream, with its progress shown while it runs."""

from __future__ import annotations

import tempfile
import time
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.live import Live
from rich.table import Table

import muntin as mt
from muntin.cli.demo import DASHBOARD, SUMMARY, iot_stream

FILES = 24


def demo_stream(spark: SparkSession, console: Console | None = None, rows: int = 1_000_000) -> None:
    """Run the dashboard over files that arrive one by one, and show how far it is."""
    out = console or Console()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        out.print(f"writing {rows:,} readings in {FILES} files …")
        hour = F.floor(F.unix_micros("ts") / (2 * 86_400_000_000 // FILES))
        made = iot_stream(spark, rows).repartitionByRange(FILES, hour)
        made.write.parquet(str(Path(folder) / "iot"))
        source = spark.readStream.schema(made.schema).option("maxFilesPerTrigger", 1).parquet(str(Path(folder) / "iot"))
        result = mt.aggregate(source, "ts", "device", DASHBOARD, SUMMARY, strategy="columnar", watermark="15 minutes")
        writer = result.writeStream.format("memory").queryName("dashboard").outputMode("append")
        checkpoint = Path(folder) / "checkpoint"
        begun = time.perf_counter()
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        with Live(_shown(query), console=out, refresh_per_second=4) as live:
            while query.isActive:
                time.sleep(0.25)
                live.update(_shown(query))
            live.update(_shown(query))
        query.awaitTermination()
        seconds = time.perf_counter() - begun
        _tell(out, spark, checkpoint)
        differing = _differing(spark.read.parquet(str(Path(folder) / "iot")), spark.table("dashboard"))
        out.print(_remembered(mt.progress(query), seconds, differing), style="bold green", highlight=False)


def _tell(out: Console, spark: SparkSession, checkpoint: Path) -> None:
    """Show what every window gave, from the shortest to the longest, and what is kept for it."""
    given = {row["window_id"]: row["count"] for row in spark.table("dashboard").groupBy("window_id").count().collect()}
    kept = {each.name: each.rows for each in mt.state(checkpoint, spark)}
    table = Table("window")
    table.add_column("rows given (closed)", justify="right")
    table.add_column("slices kept (open)", justify="right")
    for window in DASHBOARD:
        table.add_row(window.label, f"{given.get(window.label, 0):,}", f"{kept.get(window.label, 0):,}")
    out.print()
    out.print(table)


def _remembered(progress: mt.Progress, seconds: float, differing: int) -> str:
    """Say the one sentence that a visitor should remember."""
    same = (
        "Every row is one that batch gives"
        if not differing
        else f"{differing:,} ROWS DIFFER FROM BATCH, which is a bug"
    )
    return (
        f"One query keeps {len(DASHBOARD)} windows up to date: {progress.rows_in:,} readings in {seconds:.1f} s, read "
        f"once, in {progress.batches} micro-batches. {same}."
    )


def _differing(batch: DataFrame, given: DataFrame) -> int:
    """Count the rows of a stream that batch does not give; averages to nine digits, as sums have any order."""
    wanted = mt.aggregate(batch, "ts", "device", DASHBOARD, SUMMARY)
    same = [given[name].eqNullSafe(wanted[name]) for name in given.columns]
    same[-1] |= F.abs(given["mean"] - wanted["mean"]) <= 1e-9 * F.abs(wanted["mean"])
    return given.join(wanted, reduce(Column.__and__, same), "left_anti").count()


def _shown(query: object) -> Table:
    """Write a query's progress as a table."""
    now = mt.progress(query)  # type: ignore[arg-type]
    table = Table("batches", "rows in", "rows out", "late", "state", "watermark", "last batch")
    table.add_row(
        str(now.batches),
        f"{now.rows_in:,}",
        "?" if now.rows_out is None else f"{now.rows_out:,}",
        f"{now.late:,}",
        f"{now.state_rows:,}",
        "none yet" if now.watermark is None else f"{now.watermark:%d %b %H:%M}",
        f"{now.milliseconds / 1000:.2f} s",
    )
    return table
