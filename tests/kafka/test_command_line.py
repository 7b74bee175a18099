"""muntin run over a topic, as a batch and as a stream."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import functions as F

from tests.kafka.topics import SCHEMA, Topic, as_json, event_frame, last_event, some_events
from tests.spark.test_cli_run import commands, conf

QUERIES = """
-- name: low
SELECT k, window.start AS since, min(v) AS low, count(*) AS n FROM events GROUP BY k, window(ts, '1 minute');

-- name: total
SELECT window.start AS since, sum(v) AS total FROM events WHERE v > 10 GROUP BY window(ts, '5 minutes');
"""


def test_a_topic_is_an_input(topic: Topic, jars: str, tmp_path: Path) -> None:
    rows = some_events(topic.name, 900)
    last = last_event(rows)
    topic.write([*rows, last], as_json())
    (tmp_path / "queries.sql").write_text(QUERIES, encoding="utf-8")
    place = f"events=kafka://{topic.servers}/{topic.name}"
    asked = ("run", "queries.sql", "--input", place, "--schema", SCHEMA, "--conf", f"spark.jars={jars}", *conf())
    stream = ("--stream", "--watermark", "30 seconds", "--trigger", "availableNow", "--output", "streamed")
    for code, _, errors in commands(tmp_path, (*asked, "--output", "whole"), (*asked, *stream)):
        assert code == 0, errors
    for output, events in (("whole", [*rows, last]), ("streamed", rows)):
        frame = event_frame(topic.spark, events)
        minutes = frame.groupBy("k", F.window("ts", "1 minute").alias("w")).agg(F.min("v"), F.count(F.lit(1)))
        low = minutes.selectExpr("k", "w.start", "`min(v)`", "`count(1)`")
        fives = frame.where("v > 10").groupBy(F.window("ts", "5 minutes").alias("w")).agg(F.sum("v"))
        total = fives.selectExpr("w.start", "`sum(v)`")
        for name, wanted in (("low", low), ("total", total)):
            given = topic.spark.read.parquet(str(tmp_path / output / name)).drop("muntin_batch")
            assert sorted(map(str, map(tuple, given.collect()))) == sorted(map(str, map(tuple, wanted.collect())))
