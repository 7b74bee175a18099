"""Other ways to run Spark: a cluster of two workers, Spark Connect, little memory. Each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.patience import LONG, PATIENT

ASKED = """
import muntin as mt
from pyspark.sql import functions as F

windows = [mt.tumbling("20 s"), mt.tumbling("30 s"), mt.hopping("1 min", "7 s")]
asked = [mt.min("v"), mt.sum("v"), mt.count()]
df = spark.range(0, 2000, 1, 4).select(
    F.timestamp_micros(F.col("id") * 1_500_000).alias("ts"), (F.col("id") % 3).alias("key"), F.col("id").alias("v")
)
wanted = sorted(mt.aggregate(df, "ts", "key", windows, asked, strategy="independent").collect())
for strategy in ("native", "auto", "source_kernel", "slices_kernel"):
    assert sorted(mt.aggregate(df, "ts", "key", windows, asked, strategy=strategy).collect()) == wanted, strategy
assert len(wanted) > 400
frames = {"ranges": ["20 s", "1 h"], "rows": [5]}
events = sorted(mt.rolling(df, "ts", "key", aggregates=asked, strategy="independent", **frames).collect())
for strategy in ("kernel",):
    assert sorted(mt.rolling(df, "ts", "key", aggregates=asked, strategy=strategy, **frames).collect()) == events
assert len(events) == 2000
text = "SELECT key, window.end, sum(v) AS s FROM events WHERE v > 9 GROUP BY key, window(ts, '20 seconds')"
grouped = df.where("v > 9").groupBy("key", F.window("ts", "20 seconds").alias("w"))
plain = grouped.agg(F.col("w.end"), F.sum("v").alias("s")).drop("w")
assert sorted(mt.sql(text, events=df).collect()) == sorted(plain.collect())
print("same rows:", len(wanted))
"""

STREAMED = """
import os, tempfile, time

folder = tempfile.mkdtemp(dir=os.getcwd())
end = spark.sql("select timestamp_micros(10000000000L) ts, 0L key, 0L v")
df.limit(200).union(end).write.parquet(folder + "/events")
events = spark.read.parquet(folder + "/events")
wanted = sorted(mt.aggregate(events.where("ts < timestamp_micros(9000000000L)"), "ts", "key", windows, asked).collect())
stream = spark.readStream.schema(events.schema).parquet(folder + "/events")
listening = mt.listen(spark, port=0)  # on Spark Connect it listens in the client
for strategy in ("expand", "chain"):
    out = mt.aggregate(stream, "ts", "key", windows, asked, strategy=strategy, watermark="1 s")
    writer = out.writeStream.format("memory").queryName(strategy).trigger(availableNow=True)
    query = writer.option("checkpointLocation", f"{folder}/{strategy}").start()
    query.awaitTermination()
    assert sorted(spark.table(strategy).collect()) == wanted, strategy
    assert mt.progress(query).rows_out == len(wanted) > 100
waited = 0
while sum(line.startswith("muntin_query_up") and line.endswith(" 0") for line in listening.text().splitlines()) < 2:
    time.sleep(0.1)  # events come a little later
    waited += 1
    assert waited < 3000, listening.text()
for strategy in ("expand", "chain"):
    lines = [line for line in listening.text().splitlines() if f'query="{strategy}"' in line]
    told = {line.partition("{")[0]: float(line.rpartition(" ")[2]) for line in lines}
    assert told["muntin_query_up"] == 0, told
    assert told["muntin_output_rows_total"] == len(wanted), told
    assert told["muntin_input_rows_total"] == 201, told
    assert told["muntin_late_groups_total"] == 0, told
    assert f'shape="{strategy}"' in lines[-1], lines
listening.stop()
assert "rows of" in mt.explain(stream, "ts", "key", windows, asked, watermark="1 s").statistics.source
print("same stream:", len(wanted))
"""

CLUSTER = f"""
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config(map={PATIENT!r})
builder = builder.config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "2").config("spark.executor.memory", "512m").getOrCreate()
"""

CONNECT = f"""
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession

builder = SparkSession.builder.remote("local[2]").config(map={PATIENT!r})
spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
assert "connect" in type(spark).__module__
"""

MEMORY = """
import muntin as mt
from pyspark.sql import functions as F

spark = mt.session(master="local[2]", config={"spark.driver.memory": "1g"})
df = spark.range(0, 20_000_000, 1, 4).select(
    F.timestamp_micros(F.col("id") * 100_000).alias("ts"), F.lit("hot").alias("key"), F.col("id").alias("v")
)
windows = [mt.tumbling(f"{n} s") for n in (10, 20, 30, 60)] + [mt.hopping("1 hour", "1 min")]
for strategy in ("auto", "rows_kernel"):  # sorted rows are the most that a partition can hold
    out = mt.aggregate(df, "ts", "key", windows, [mt.sum("v"), mt.count()], strategy=strategy)
    totals = out.groupBy("window_id").agg(F.sum("count").alias("n"), F.sum("sum_v").alias("s"))
    rows = {row["window_id"]: row for row in totals.collect()}
    for window in windows:
        copies = window.range // window.slide
        row = rows[window.label]
        assert row["n"] == copies * 20_000_000, (strategy, row)
        assert row["s"] == copies * (20_000_000 * 19_999_999 // 2), (strategy, row)
print("same sums")
"""


def run(code: str, folder: Path, *, java: str | None = None) -> str:
    """Run a script in a process of its own, with Java as tests have it or with options of its own."""
    environment = os.environ | {"SPARK_WORKER_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {} if java is None else {"JAVA_TOOL_OPTIONS": java}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG, cwd=folder, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize(
    "start", [pytest.param(CLUSTER, marks=pytest.mark.long), CONNECT], ids=["cluster of two workers", "Spark Connect"]
)
def test_same_rows_elsewhere(start: str, tmp_path: Path) -> None:
    said = run(start + ASKED + STREAMED, tmp_path)
    assert "same rows:" in said
    assert "same stream:" in said


@pytest.mark.slow
@pytest.mark.long
def test_one_hot_key_of_twenty_million_events_in_one_gigabyte(tmp_path: Path) -> None:
    assert "same sums" in run(MEMORY, tmp_path, java="")
