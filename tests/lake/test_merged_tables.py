"""Current values merged into Delta and Iceberg: the same as plain Spark's, whatever is repeated or interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.lake.conftest import Lake
from tests.spark.current_values import ASKED, plain, run, values
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, by_instance, events

ARRIVING = [
    events((71, "a", 1), (75, "b", 2), (83, "a", 4)),
    events((72, "a", 8), (200, None, 16)),
    events((201, None, 32), (202, "b", 64)),
]


class OnPurposeError(Exception):
    """What stands for a failure."""


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    return Replay(spark, tmp_path).add(*ARRIVING)


def commits(lake: Lake, name: str) -> int:
    """Count what was written to a table."""
    if lake.format == "iceberg":
        lake.spark.sql(f"REFRESH TABLE {name}")
    history = f"DESCRIBE HISTORY {name}" if lake.format == "delta" else f"SELECT * FROM {name}.snapshots"
    return lake.spark.sql(history).count()


@pytest.mark.parametrize("by_path", [False, True])
def test_every_micro_batch_counts_once(lake: Lake, replay: Replay, by_path: bool) -> None:
    if by_path and lake.format == "iceberg":
        pytest.skip("Iceberg's tables have names")
    name = lake.table(replay.folder, by_path=by_path)
    table = mt.UpsertTable(name, by="k", format=lake.format)
    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(lake.spark)
    made: list[int] = []

    def failing(rows: DataFrame, batch: int) -> None:
        table.write(rows, batch)
        made.append(batch)
        if batch == 1 and made.count(1) == 1:
            raise OnPurposeError  # the rows are there, and Spark does not know it

    with pytest.raises(Exception, match="OnPurposeError"):
        run(replay, failing, "checkpoint")
    sql = f"delta.`{name}`" if by_path else name
    before = commits(lake, sql)
    run(replay, failing, "checkpoint")
    assert made[:3] == [0, 1, 1]
    assert values(table, lake.spark) == plain(replay)
    assert commits(lake, sql) == before + 1  # by the third micro-batch alone
    table.compact(lake.spark)
    replay.add(events((203, "a", 128), (204, None, 1)))
    run(replay, table.write, "checkpoint")
    assert values(table, lake.spark) == plain(replay)


def test_a_new_checkpoint_is_refused(lake: Lake, replay: Replay) -> None:
    table = mt.UpsertTable(lake.table(replay.folder), by="k", format=lake.format)
    run(replay, table.write, "first")
    with pytest.raises(Exception, match=r"another checkpoint: it has micro-batch 2 of query .* and this is 0 of query"):
        run(replay, table.write, "second")
    with pytest.raises(Exception, match="written from another checkpoint"):
        run(replay, lambda rows, batch: table.write(rows, batch + 10), "third")
    assert values(table, lake.spark) == plain(replay)


def test_a_table_without_rows_belongs_to_nobody(lake: Lake, replay: Replay) -> None:
    table = mt.UpsertTable(lake.table(replay.folder), by="k", format=lake.format)

    def failing(rows: DataFrame, batch: int) -> None:
        table.write(rows.withColumn("sum_v", F.raise_error(F.lit("on purpose")).cast("long")), batch)

    with pytest.raises(Exception, match="on purpose"):
        run(replay, failing, "first")
    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(lake.spark)
    run(replay, table.write, "second")
    assert values(table, lake.spark) == plain(replay)


def test_numbers_and_columns_are_told(lake: Lake, tmp_path: Path) -> None:
    """Without a query's id, as in Spark Connect or in a call by hand, and with names that SQL must quote."""
    name = lake.table(tmp_path)
    table = mt.UpsertTable(name, by="a.key", format=lake.format)
    rows = lake.spark.sql("SELECT 'w' window_id, 1 window, NULL::STRING `a.key`, 7 `n's`")
    for batch in (0, 1, 1, 3):
        table.write(rows.withColumn("n's", F.lit(batch)), batch)
    assert [tuple(row) for row in table.read(lake.spark).collect()] == [("w", 1, None, 3)]
    with pytest.raises(mt.QueryError, match=r"it has micro-batch 3, and this is 2\. Use another table, or remove this"):
        table.write(rows, 2)
    with pytest.raises(mt.QueryError, match=r"has no column 'more'\. Add it with ALTER TABLE"):
        table.write(rows.withColumn("more", F.lit(1)), 4)
    lake.spark.sql(f"ALTER TABLE {name} ADD COLUMN more INT")
    table.write(rows.withColumn("more", F.lit(1)), 4)
    assert [tuple(row) for row in table.read(lake.spark).collect()] == [("w", 1, None, 7, 1)]


def test_a_table_keeps_its_keys_and_columns(lake: Lake, tmp_path: Path) -> None:
    """A value that is no longer written would otherwise stay beside newer ones, and a missing key merges rows."""
    table = mt.UpsertTable(lake.table(tmp_path), by=(), format=lake.format)
    rows = lake.spark.sql("SELECT 'w' window_id, 1 window, k, 7 n FROM VALUES ('a'), ('b') AS keys (k)")
    with pytest.raises(mt.QueryError, match=r"has 2 rows with the same 'window_id', 'window'.*Name all keys"):
        table.write(rows, 0)
    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(lake.spark)
    name = lake.table(tmp_path)
    keyed = mt.UpsertTable(name, by="k", format=lake.format)
    keyed.write(rows, 0)
    renamed = rows.withColumnRenamed("n", "total")
    with pytest.raises(mt.QueryError, match=r"rename it with ALTER TABLE .* RENAME COLUMN `n` TO `total`"):
        keyed.write(renamed, 1)
    lake.spark.sql(f"ALTER TABLE {name} ADD COLUMN total INT")
    with pytest.raises(mt.QueryError, match=r"no column 'n'.* Remove it with ALTER TABLE .* DROP COLUMN `n`"):
        keyed.write(renamed, 1)
    with pytest.raises(mt.QueryError, match=r"has the keys .*'k', and this micro-batch 'window_id', 'window'\."):
        mt.UpsertTable(name, by=(), format=lake.format).write(rows.where("k = 'a'"), 1)
    keyed.write(rows, 1)
    assert sorted(tuple(row) for row in keyed.read(lake.spark).collect()) == [
        ("w", 1, "a", 7, None),
        ("w", 1, "b", 7, None),
    ]


def test_history_tables_are_batch_input(lake: Lake, replay: Replay) -> None:
    name = lake.table(replay.folder)
    replay.batch.writeTo(name).using(lake.format).create()
    history = lake.spark.table(name)
    out = mt.aggregate(history, **ASKED, strategy="native")
    assert by_instance(out.collect()) == plain(replay)


def test_a_delta_table_is_a_stream(lake: Lake, replay: Replay) -> None:
    if lake.format != "delta":
        pytest.skip("of Delta")
    name = lake.table(replay.folder)
    for number in range(len(ARRIVING)):
        rows = lake.spark.read.parquet(str(replay.files / f"{number:04}.parquet"))
        rows.write.format("delta").mode("append").saveAsTable(name)
    stream = lake.spark.readStream.option("maxFilesPerTrigger", 1).table(name)
    result = mt.aggregate(stream, **ASKED, output="update", watermark="10 min", strategy="expand")
    table = mt.UpsertTable(lake.table(replay.folder), by="k", format="delta")
    writer = result.writeStream.outputMode("update").foreachBatch(table.write).trigger(availableNow=True)
    patiently(writer.option("checkpointLocation", str(replay.folder / "checkpoint")).start, to_the_end)
    assert values(table, lake.spark) == plain(replay)
