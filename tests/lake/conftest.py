"""A session with Delta or Iceberg, which only some versions of Spark have: make test-delta, make test-iceberg."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from tests.spark.patience import PATIENT

EXTENSIONS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",  # instead of 50 tasks for every look at a small table
    },
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
    },
}
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@dataclass(frozen=True)
class Lake:
    """A session, and the format of its tables."""

    spark: SparkSession
    format: Literal["delta", "iceberg"]

    def table(self, folder: Path, *, by_path: bool = False) -> str:
        """Name a table that nobody else has."""
        if by_path:
            return str(folder / "table of values")
        return f"t{uuid4().hex}" if self.format == "delta" else f"lake.ops.t{uuid4().hex}"


def lake_jars() -> Path:
    """Give the folder with the jars, or skip and say which one cannot be had."""
    folder = Path(os.environ.get("MUNTIN_JARS", "none"))
    if (folder / "missing").exists():
        pytest.skip((folder / "missing").read_text(encoding="utf-8").strip())
    return folder


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    format, folder = os.environ.get("MUNTIN_LAKE"), lake_jars()
    if format not in ("delta", "iceberg"):
        pytest.skip("Delta and Iceberg have environments of their own: make test-delta, make test-iceberg")
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    settings = PATIENT | EXTENSIONS[format] | {"spark.sql.shuffle.partitions": 2}
    settings |= {
        "spark.jars": ",".join(map(str, sorted(folder.absolute().glob("*.jar")))),
        "spark.sql.warehouse.dir": warehouse,
        "spark.sql.catalog.lake.warehouse": warehouse,
    }
    if format == "delta":
        settings.pop("spark.sql.catalog.lake.warehouse")
    spark = mt.session(master="local[2]", config=settings)
    yield Lake(spark, "delta" if format == "delta" else "iceberg")
    spark.stop()


@pytest.fixture
def spark(lake: Lake) -> SparkSession:
    return lake.spark
