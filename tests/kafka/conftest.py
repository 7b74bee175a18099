from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import muntin as mt
from tests.kafka.topics import Topic
from tests.spark.patience import PATIENT
from tools.kafka.artifacts import Missing, broker_jars, connector_jars
from tools.kafka.broker import Broker

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that need a broker, and leave them out unless they are asked for with -m kafka."""
    own = [item for item in items if HERE in item.path.parents]
    for item in own:
        item.add_marker(pytest.mark.kafka)
    if own and "kafka" not in config.option.markexpr:
        config.hook.pytest_deselected(items=own)
        items[:] = [item for item in items if item not in own]


@pytest.fixture(scope="session")
def jars() -> str:
    """The connector's jars, as `spark.jars` takes them."""
    try:
        broker_jars()
        return ",".join(map(str, connector_jars(pyspark.__version__)))
    except Missing as reason:
        pytest.skip(f"Kafka cannot be had: {reason}")


@pytest.fixture(scope="session")
def broker(jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = Broker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.stop(kill=True)


@pytest.fixture(scope="session")
def spark(jars: str) -> Iterator[SparkSession]:
    config = PATIENT | {"spark.jars": jars, "spark.sql.shuffle.partitions": 2}
    session = mt.session(master="local[2]", config=config)
    yield session
    session.stop()


@pytest.fixture
def topic(spark: SparkSession, broker: Broker, request: pytest.FixtureRequest) -> Topic:
    """Give a topic of the test's own, with four partitions."""
    made = Topic(spark, broker.servers, request.node.name)
    made.create()
    return made
