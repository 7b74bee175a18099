from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin.spark.batches import Rows
from muntin.spark.reducers import Arrays
from tests.spark.patience import PATIENT

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = mt.session(master="local[2]", config=PATIENT | {"spark.sql.shuffle.partitions": 2})
    yield session
    session.stop()


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the numbers of rows that tasks in this process work on at once, as they do."""
    found: list[int] = []
    lifted = Rows.lifted

    def watched(rows: Rows) -> list[Arrays]:
        found.append(len(rows.time))
        return lifted(rows)

    monkeypatch.setattr(Rows, "lifted", watched)
    return found
