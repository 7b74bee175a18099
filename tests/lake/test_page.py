"""The page on tables: its blocks run, those for Delta on Delta and those for Iceberg on Iceberg."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

import muntin as mt
from tests.lake.conftest import Lake

PAGE = Path(__file__).parents[2] / "docs/tables_and_files.md"
BLOCK = re.compile(r"(?:<!-- not run: (?P<needs>.*?) -->\n)?```python\n(?P<code>.*?)```\n", re.DOTALL)


@pytest.fixture
def folder(lake: Lake, tmp_path: Path) -> Iterator[Path]:
    """Let relative paths of Python and of Spark begin in a folder with readings."""
    java: Any = lake.spark._jvm
    files = java.org.apache.hadoop.fs.FileSystem.get(lake.spark._jsc.hadoopConfiguration())
    before = (files.getWorkingDirectory(), java.System.getProperty("user.dir"))
    files.setWorkingDirectory(java.org.apache.hadoop.fs.Path(str(tmp_path)))
    java.System.setProperty("user.dir", str(tmp_path))
    minute = "timestamp'2024-05-01 09:00:00' + make_interval(0, 0, 0, 0, 0, id, 0)"
    rows = lake.spark.range(240).selectExpr(f"{minute} ts", "concat('d', id % 3) device", "id % 9 temperature")
    rows.write.parquet(str(tmp_path / "readings"))
    with chdir(tmp_path):
        yield tmp_path
    files.setWorkingDirectory(before[0])
    java.System.setProperty("user.dir", before[1])


def test_blocks_run(lake: Lake, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = (None, f"it needs {lake.format.capitalize()}")
    blocks = [found for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")) if found["needs"] in wanted]
    scope: dict[str, Any] = {
        "mt": mt,
        "spark": lake.spark,
        "readings": lake.spark.read.parquet(str(folder / "readings")),
    }
    for block in blocks:
        exec(block["code"], scope)  # noqa: S102 - our own page
    assert len(blocks) >= 2
    if lake.format == "delta":
        assert "max_temperature" in capsys.readouterr().out
        assert lake.spark.table("current_values").count() == 36
