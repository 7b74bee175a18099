"""Checkpoints that stay in the repository: every later version must go on from them.

python -m tests.spark.kept_checkpoints FORMAT writes those of a new format. Those of older formats are never written
again.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.patience import PATIENT
from tests.spark.streams import Event, Replay, events

FOLDER = Path(__file__).parent / "checkpoints"
SHAPES = ("independent", "expand", "chain", "columnar", "distinct", "ordered")

REGISTERED = FOLDER / "registered"
"""Checkpoints of queries whose windows come from a registry, with their registries."""
FOLLOWING = ("columnar", "ordered")
"""The shapes that follow a registry."""


def pairs(state: tuple[int, int], time: int) -> tuple[tuple[int, int], int, int]:
    """Begin a window with every second row, and end the one before."""
    count = state[0]
    return (count + 1, time), int(count % 2 == 0), int(count % 2 == 0 and count > 0)


WINDOWS = [mt.tumbling("1 min"), mt.hopping("2 min", "30 s", id="two")]

FRAMED = [mt.session_window("50 s"), mt.tumbling(mt.rows(2)), mt.while_("held"), mt.user_window(pairs, initial=[0, 0])]
"""Windows of other kinds, which one of the shapes has too."""

CHANGES = re.compile(r'"file:[^"]*/(windows/\d{8}\.json)"')
"""Where Spark has read the changes of a registry."""
SCHEMAS = re.compile(r'"file:[^"]*/(state/\d+/_stateSchema/[^"]*)"')
"""Where columnar state has its schema: Spark writes the whole path into the checkpoint."""


def doubled(*rows: Event) -> pa.Table:
    """Give events with one more column, of doubles that every sum has exactly."""
    table = events(*rows)
    table = table.append_column("held", pc.greater(table["v"], 0))
    return table.append_column("d", pc.divide(table["v"].cast(pa.float64()), 4))


EARLIER = doubled((1, "a", 5), (31, "A", 7), (50, None, 1), (70, "b", -3))
"""What the checkpoints have seen; the watermark has closed no window."""


AGGREGATES = [
    *(mt.min("v").alias("low"), mt.sum("v"), mt.avg("v"), mt.count(), mt.max("k").alias("last")),
    *(mt.sum("d"), mt.avg("d")),
]
COUNTS = [mt.count_distinct("v"), mt.count_distinct("d").alias("ds")]
"""What the shape that counts items is asked for."""


def ask(shape: str) -> dict[str, Any]:
    return {
        "time": "ts",
        "by": [F.lower("k").alias("k")],
        "windows": [*WINDOWS, *FRAMED] if shape == "ordered" else WINDOWS,
        "aggregates": COUNTS if shape == "distinct" else AGGREGATES,
        "watermark": "100 s",
        "strategy": shape,
    }


def write(format: str) -> None:
    """Run every shape over what came earlier, and keep its checkpoint, unless there is one."""
    spark = mt.session(master="local[2]", config=PATIENT | {"spark.sql.shuffle.partitions": 2})
    for shape in [shape for shape in FOLLOWING if not (REGISTERED / f"format-{format}" / f"{shape}.zip").exists()]:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "kept"
            registry = mt.WindowRegistry(place / "windows")
            for window in (*WINDOWS, mt.tumbling("20 s", id="short")):
                registry.add(window)
            registry.remove("short")
            replay = Replay(spark, Path(folder)).add(EARLIER)
            assert replay.run(ask(shape) | {"windows": registry}, files=True).rows.count() == 0
            shutil.rmtree(place / "rows")
            shutil.make_archive(str(REGISTERED / f"format-{format}" / shape), "zip", place)
    for shape in [shape for shape in SHAPES if not (FOLDER / f"format-{format}" / f"{shape}.zip").exists()]:
        with tempfile.TemporaryDirectory() as folder:
            replay = Replay(spark, Path(folder)).add(EARLIER)
            assert replay.run(ask(shape), files=True).rows.count() == 0
            place = FOLDER / f"format-{format}" / shape
            shutil.make_archive(str(place), "zip", Path(folder) / "kept" / "checkpoint")
    spark.stop()


def opened(archive: Path, folder: Path) -> None:
    """Put a kept checkpoint where a replay expects it, and tell it where it is."""
    checkpoint = folder / "kept" / "checkpoint"
    is_registered = REGISTERED in archive.parents
    shutil.unpack_archive(archive, checkpoint.parent if is_registered else checkpoint)
    for log in checkpoint.glob("sources/*/[0-9]*") if is_registered else ():
        log.write_text(CHANGES.sub(rf'"file://{checkpoint.parent}/\1"', log.read_text()))
        log.with_name(f".{log.name}.crc").unlink()
    for metadata in checkpoint.glob("state/*/_metadata/v2/[0-9]*"):
        metadata.write_text(SCHEMAS.sub(rf'"file:{checkpoint}/\1"', metadata.read_text()))
        metadata.with_name(f".{metadata.name}.crc").unlink()


if __name__ == "__main__":
    write(sys.argv[1])
