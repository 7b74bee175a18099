"""The report's sections on Muntin beside Flink SQL."""

from __future__ import annotations

from muntin.bench.record import Row
from muntin.bench.report.tables import table

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
            f"The same windows over the same events on the same cores, with Flink {rows[0]['flink']}: 100 keys, min, "
            "sum and count, a watermark of one minute, rows computed and dropped. Muntin reads ten Parquet files one "
            "by one. Flink reads the same events from two, one for each of its readers, because it gives files to "
            "readers in no order and drops events of older files as late. Flink has one statement "
            "set of window table functions in streaming mode, with two tasks of every operator, one source for all "
            "windows and objects reused; where it makes checkpoints, one every ten seconds, exactly once. Muntin makes "
            "one for every micro-batch of a tenth of the events. Every column has run on a small stream "
            "before, and both engines once on the whole one, in the same process. Dense: 100 events of a key in ten "
            "minutes, sparse: 6. Seconds:",
            table(
                ["stream", "events", *NAMES.values(), "quickest Flink / Muntin", "Flink with RocksDB / Muntin"],
                [_line(row["setting"], row["events"], row["seconds"]) for row in rows],
            ),
            _same(rows),
            "Throughput does not show latency: Flink answers record by record, Spark in micro-batches. These runs read "
            "files as quickly as they can, and a row that waits for the end of its micro-batch costs nothing here. "
            "`muntin bench stream latency` measures how long rows wait.",
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
        f"Both wrote their rows once, and these were compared one by one: {compared:,} rows of Muntin on all streams, "
        f"of which {differ:,} differ from Flink's, or only one of both has them. At the end of its input Flink closes "
        "all windows. Muntin leaves open what the watermark has not passed, and that is not compared."
    )


def latency_section(result: Row) -> str:
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
            "of results, for windows that end in the second half of the run:",
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
    each = ", ".join(f"{ENGINES[row['engine']]} within {row['p50_ms'] / 1000:.1f} s" for row in rows)
    return (
        f"Half of the rows are there: {each}. Where tenths of a second matter, compare this table and not the seconds "
        "of whole streams. Beside windows of minutes and hours, a few micro-batches are little."
    )
