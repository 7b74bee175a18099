"""The report's sections on Muntin beside Flink SQL."""

from __future__ import annotations

from muntin.bench.record import Row
from muntin.bench.report.tables import table

NAMES = {
    "muntin": "Muntin, RocksDB, checkpoints",
    "heap": "Flink, heap, no checkpoints",
    "RocksDB, checkpoints": "Flink, RocksDB, checkpoints",
}
ENGINES = {"flink": "Flink SQL, RocksDB", "auto": "Muntin, auto", "expand": "Muntin, expand"}


def flink_section(result: Row) -> str:
    """Write the seconds of both, and whether their rows are the same."""
    rows = result["rows"]
    return "\n\n".join(
        [
            "## Beside Flink SQL",
            "The same windows over the same Parquet files on the same cores: 100 keys, min, sum and count, a watermark "
            "of one minute, rows computed and dropped. Flink has one statement set of window table functions in "
            "streaming mode, with two tasks of every operator, one source for all windows and objects reused; a "
            "checkpoint every ten seconds where it has any. It runs on a small stream first in the same process, "
            "as Muntin does. Muntin has a checkpoint for every micro-batch of a tenth of the events. Dense: 100 "
            "events of a key in ten minutes, sparse: 6. Seconds:",
            table(
                ["stream", "events", *NAMES.values(), "Flink with RocksDB / Muntin"],
                [
                    [
                        row["setting"],
                        f"{row['events']:,}",
                        *(f"{row['seconds'][name]:.1f}" for name in NAMES),
                        f"{row['seconds']['RocksDB, checkpoints'] / row['seconds']['muntin']:.1f}",
                    ]
                    for row in rows
                ],
            ),
            _same(rows),
        ]
    )


def _same(rows: list[Row]) -> str:
    """Tell whether the rows of both are those of plain Spark in batch."""
    checked = sum(row["checked_rows"] for row in rows)
    flink, ours = (sum(row[f"{name}_differs"] for row in rows) for name in ("flink", "muntin"))
    return (
        f"Over a tenth of the events both were compared with plain Spark in batch, {checked:,} rows on all streams: "
        f"{flink:,} of Flink's rows differ or are missing, and {ours:,} of Muntin's. At the end of its input Flink "
        "closes all windows. Muntin leaves open what the watermark has not passed, and that is not compared."
    )


def flink_latency_section(result: Row) -> str:
    """Write how long after the event that closes a window its rows come out."""
    first = result["rows"][0]
    return "\n\n".join(
        [
            "## Latency beside Flink SQL",
            "What throughput does not show: Flink looks at records one by one and moves its watermark every 200 ms. "
            "Spark moves it between micro-batches, so a window's rows come out in the micro-batch after the one with "
            f"the event that closes it. {first['rate']:,} events a second through a Kafka topic, {first['windows']} "
            "tumbling windows of 2 to 20 seconds, 100 keys, a delay of one second, a new micro-batch as soon as the "
            "last is done. Milliseconds from the time of the closing event to the time of a row's message in the topic "
            "of results:",
            table(
                ["engine", "rows", "p50, ms", "p99, ms", "most, ms", "median micro-batch, ms", "checkpoints"],
                [
                    [
                        ENGINES[row["engine"]],
                        f"{row['rows']:,}",
                        *(f"{row[name]:,}" for name in ("p50_ms", "p99_ms", "most_ms")),
                        f"{row['batch_p50_ms']:,}" if "batch_p50_ms" in row else "–",
                        row["checkpoints"],
                    ]
                    for row in result["rows"]
                ],
            ),
            "If rows must be there within a second of their window's end, Flink is the right tool. Muntin's latency is "
            "about two micro-batches, which is little beside windows of minutes and hours.",
        ]
    )
