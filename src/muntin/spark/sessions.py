"""A local Spark session with good defaults."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from muntin.safe_text import is_secret

PATIENCE = "spark.python.authenticate.socketTimeout"
ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
ARROW_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
UNLIMITED = 2**31 - 1
"""The number of bytes at which Spark stops measuring the Arrow batch after every row (docs/decisions/0005)."""


def _text(value: object) -> str:
    """Write a setting as Spark does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def session(
    master: str | None = None, app: str = "muntin", config: Mapping[str, object] = MappingProxyType({})
) -> SparkSession:
    """Open a local Spark session with good defaults: this Python, UTC, few partitions, large batches, RocksDB.

    If the process already has a session, Spark returns that one, and changes those settings that can still be changed.

    Args:
        master: Spark's master; by default all cores of this machine.
        app: The name of the application.
        config: Spark settings, which take precedence over the defaults. Those that stand for passwords by their names,
            such as spark.hadoop.fs.s3a.secret.key, are not on Java's command line, which all users of a machine see.

    Example:
        ```python
        spark = mt.session(config={"spark.sql.shuffle.partitions": 2})
        ```
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the builder's setting comes too late in local mode
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    defaults = {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        PATIENCE: "120s",  # a busy machine needs more than Spark's 15 s to connect two processes
        ARROW_ROWS: "100000",
        ARROW_BYTES: str(UNLIMITED),
        PROVIDER: ROCKSDB,  # for streams: columnar state needs it, and others are quicker with it
        CHANGELOG: "true",
    }
    settings = {"spark.app.name": app, "spark.master": master or f"local[{cores}]"}
    settings |= defaults | {key: _text(value) for key, value in config.items()}
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    _start_java(settings)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _start_java(settings: Mapping[str, str]) -> None:
    """Start Java where there are passwords in settings: PySpark would write all of them on its command line.

    Once Java runs, settings reach it through a connection.
    """
    public = {name: value for name, value in settings.items() if not is_secret(name)}
    if len(public) < len(settings):
        SparkContext._ensure_initialized(conf=SparkConf().setAll(list(public.items())))
