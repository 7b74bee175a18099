"""muntin demo --stream: the same dashboard on a stream, with its progress shown while it runs."""

from __future__ import annotations

import tempfile
import time
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from rich.console import Console
from rich.live import Live
from rich.table import Table

import muntin as mt
from muntin.demo import DASHBOARD, iot_stream

FILES = 24


def demo_stream(console: Console | None = None, rows: int = 1_000_000) -> None:
    """Run the dashboard over files that arrive one by one, and show how far it is."""
    out = console or Console()
    with tempfile.TemporaryDirectory() as folder:
        spark = mt.session(app="muntin demo", config={"spark.driver.memory": "3g"})
        out.print(f"writing {rows:,} readings in {FILES} files …")
        hour = F.floor(F.unix_micros("ts") / (2 * 86_400_000_000 // FILES))
        made = iot_stream(spark, rows).repartitionByRange(FILES, hour)
        made.write.parquet(str(Path(folder) / "iot"))
        source = spark.readStream.schema(made.schema).option("maxFilesPerTrigger", 1).parquet(str(Path(folder) / "iot"))
        aggregates = [mt.count("temperature"), mt.min("temperature"), mt.max("temperature"), mt.avg("temperature")]
        result = mt.aggregate(
            source, "ts", "device", DASHBOARD, aggregates, strategy="columnar", watermark="15 minutes"
        )
        writer = result.writeStream.format("memory").queryName("dashboard").outputMode("append")
        checkpoint = Path(folder) / "checkpoint"
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        with Live(_shown(query), console=out, refresh_per_second=4) as live:
            while query.isActive:
                time.sleep(0.25)
                live.update(_shown(query))
            live.update(_shown(query))
        query.awaitTermination()
        counts = spark.table("dashboard").groupBy("window_id").count().orderBy("window_id").collect()
        kept = {each.name: each.rows for each in mt.state(checkpoint, spark)}
        table = Table("window", "closed instances given", "slices kept for open ones")
        for row in counts:
            table.add_row(row["window_id"], f"{row['count']:,}", f"{kept.get(row['window_id'], 0):,}")
        out.print()
        out.print(table)
        out.print(_compared(spark.read.parquet(str(Path(folder) / "iot")), spark.table("dashboard"), aggregates))
        spark.stop()


def _compared(batch: DataFrame, given: DataFrame, aggregates: list[mt.Aggregate]) -> str:
    """Compare what the stream gave with the rows of batch; averages to nine digits, as sums have any order."""
    wanted = mt.aggregate(batch, "ts", "device", DASHBOARD, aggregates)
    same = [given[name].eqNullSafe(wanted[name]) for name in given.columns]
    mean, expected = given["avg_temperature"], wanted["avg_temperature"]
    same[-1] |= F.abs(mean - expected) <= 1e-9 * F.abs(expected)
    differing = given.join(wanted, reduce(Column.__and__, same), "left_anti").count()
    return "All of them are rows of the batch result." if not differing else f"{differing:,} differ from batch!"


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
