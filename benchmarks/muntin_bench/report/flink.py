"""The report's sections on Muntin beside Flink SQL."""

from __future__ import annotations

from muntin_bench.record import Row
from muntin_bench.report.tables import table

NAMES = {
    "muntin": "Muntin, RocksDB, checkpoints",
    "heap": "Flink, heap, no checkpoints",
    "heap, checkpoints": "Flink, heap, checkpoints",
    "RocksDB, checkpoints": "Flink, RocksDB, checkpoints",
}
ENGINES = {"flink": "Flink SQL, RocksDB", "auto": "Muntin, auto", "expand": "Muntin, expand"}


def flink_section(result: Row) -> str:
    """Write the seconds of both, whether their rows are the same, and what seconds do not show."""
    rows = result["rows"]
    return "\n\n".join(
        [
            "## Beside Flink SQL",
            f"Both engines evaluate the same windows over the same events on the same cores: Flink {rows[0]['flink']}, "
            "100 keys, min, sum and count, a watermark of one minute. The result rows are dropped. Muntin reads ten "
            "Parquet files one by one. Flink reads the same events from two files, one for each of its readers, "
            "because it assigns files to readers in no fixed order and would drop events of older files as late. Flink "
            "runs one statement set of window table functions in streaming mode, with parallelism 2, source reuse and "
            "object reuse. Its checkpoints, where they are on, are exactly-once and come every ten seconds. Muntin "
            "writes a checkpoint for every micro-batch, a tenth of the events. Before the measurement, every "
            "configuration ran on a small stream, and each engine ran once on the whole stream. A dense stream has 100 "
            "events of a key in ten minutes, a sparse one has 6. Seconds:",
            table(
                ["stream", "events", *NAMES.values(), "quickest Flink / Muntin", "Flink with RocksDB / Muntin"],
                [_line(row["setting"], row["events"], row["seconds"]) for row in rows],
            ),
            _same(rows),
            "Throughput does not show latency: Flink answers record by record, Spark in micro-batches. These runs read "
            "files as fast as they can, so a row that waits for the end of its micro-batch costs nothing here. The "
            "next section measures how long rows wait.",
        ]
    )


def _line(setting: str, events: int, seconds: Row) -> list[str]:
    """Write the seconds of a stream, and how many times Muntin's they are."""
    theirs = {name: each for name, each in seconds.items() if name != "muntin"}
    ratios = (each / seconds["muntin"] for each in (min(theirs.values()), theirs["RocksDB, checkpoints"]))
    return [
        setting,
        f"{events:,}",
        *(f"{seconds[name]:.1f}" for name in NAMES),
        *(f"{ratio:.1f}" for ratio in ratios),
    ]


def _same(rows: list[Row]) -> str:
    """Tell whether the rows of both are the same."""
    compared, differ = (sum(row[name] for row in rows) for name in ("compared_rows", "differ"))
    return (
        f"The rows of both engines were compared one by one on all streams: of {compared:,} rows, {differ:,} differ or "
        "are missing on one side. At the end of its input Flink closes all windows. Muntin leaves windows open that "
        "the watermark has not passed; these are not compared."
    )


def latency_section(result: Row) -> str:
    """Write how long after the event that closes a window its rows come out."""
    first = result["rows"][0]
    return "\n\n".join(
        [
            "## Latency beside Flink SQL",
            "Flink processes records one by one and moves its watermark every 200 ms. Spark moves its watermark "
            "between micro-batches, so the rows of a window come out in the micro-batch after the one with the event "
            f"that closes it. Here {first['rate']:,} events a second go through a Kafka topic, with {first['windows']} "
            "tumbling windows of 2 to 20 seconds, 100 keys and a watermark delay of one second. A micro-batch starts "
            "as soon as the one before it ends. The table gives the milliseconds from the time of the closing event to "
            "the time of a row's message in the topic of results, for windows that end in the second half of the run:",
            table(
                ["engine", "rows", "p50, ms", "p99, ms", "most, ms", "median micro-batch, ms", "checkpoints"],
                [
                    [
                        ENGINES[row["engine"]],
                        f"{row['rows']:,}",
                        *(f"{row[name]:,}" for name in ("p50_ms", "p99_ms", "most_ms")),
                        f"{row['batch_p50_ms']:,}" if row.get("batch_p50_ms") else "–",
                        row["checkpoints"],
                    ]
                    for row in result["rows"]
                ],
            ),
            _waits(result["rows"]),
        ]
    )


def _waits(rows: list[Row]) -> str:
    """Tell how long half of the rows wait, in each engine."""
    each = ", ".join(f"{ENGINES[row['engine']]} {row['p50_ms'] / 1000:.1f} s" for row in rows)
    return (
        f"Half of the rows arrive within this time: {each}. If tenths of a second matter to you, compare this table "
        "and not the seconds of whole streams. For windows of minutes or hours, a few micro-batches matter little."
    )
