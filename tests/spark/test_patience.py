"""Tests wait for a machine that is busy, and for nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from muntin.spark.sessions import PATIENCE
from tests.spark import patience
from tests.spark.patience import PATIENT, PAUSES, TOO_SLOW, patiently


@pytest.mark.parametrize(("slow", "starts"), [(0, 1), (2, 3), (len(PAUSES) + 1, len(PAUSES) + 1)])
def test_a_query_with_a_slow_worker_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: int, starts: int
) -> None:
    monkeypatch.setattr(patience, "PAUSES", (0,) * len(PAUSES))
    started: list[int] = []
    checkpoint = tmp_path / "checkpoint"

    def start() -> StreamingQuery:
        checkpoint.mkdir()  # fails if there is one
        started.append(len(started))
        return cast(StreamingQuery, None)

    def wait(query: StreamingQuery) -> None:
        if len(started) <= slow:
            raise StreamingQueryException(f"[STREAM_FAILED] {TOO_SLOW}.")

    if slow > len(PAUSES):
        with pytest.raises(StreamingQueryException):
            patiently(start, wait, forget=checkpoint)
    else:
        patiently(start, wait, forget=checkpoint)
    assert len(started) == starts


def test_other_failures_are_failures(tmp_path: Path) -> None:
    def wait(query: StreamingQuery) -> None:
        raise StreamingQueryException("[STREAM_FAILED] division by zero")

    with pytest.raises(StreamingQueryException, match="division by zero"):
        patiently(lambda: cast(StreamingQuery, None), wait)


def test_sessions_of_tests_are_patient(spark: SparkSession) -> None:
    assert {name: spark.sparkContext.getConf().get(name) for name in PATIENT} == PATIENT
    assert PATIENCE in PATIENT
