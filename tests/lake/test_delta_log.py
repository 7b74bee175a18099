"""A Delta table as the log of a registry: one of several writers has a number, and nothing is lost between the two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

import muntin as mt
from muntin.registry import WindowRegistry
from tests.lake.conftest import Lake
from tests.test_files import NotAtomic


@pytest.fixture
def log(lake: Lake, tmp_path: Path) -> mt.DeltaLog:
    if lake.format != "delta":
        pytest.skip("of Delta")
    return mt.DeltaLog(tmp_path / "log", lake.spark)


def test_one_writer_has_a_number(log: mt.DeltaLog) -> None:
    assert log.entries() == {}
    assert log.append(1, '{"a": "it\'s"}')
    assert not log.append(1, '{"a": "it\'s"}')
    assert log.append(2, "{}")
    assert dict(log.entries()) == {1: '{"a": "it\'s"}', 2: "{}"}


def test_of_writers_at_the_same_time_each_gets_a_number(log: mt.DeltaLog) -> None:
    store = f"memory://{uuid4().hex}/windows"

    def add(number: int) -> None:
        NotAtomic(store, log).add(mt.tumbling(f"{number + 1} minutes"))

    add(0)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(add, range(1, 4)))
    changes = WindowRegistry(store).changes()
    assert [change.version for change in changes] == [1, 2, 3, 4]
    assert {change.id for change in changes} == {"1m", "2m", "3m", "4m"}
    assert list(log.entries()) == [1, 2, 3, 4]
