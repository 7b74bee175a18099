"""An object store on this machine: Moto's S3 on loopback, through s3fs and through Hadoop's s3a (make test-s3)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from tests.spark.patience import PATIENT

HERE = Path(__file__).parent
BUCKET = "muntin"
NAME, PASSWORD = "name", "password"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@dataclass(frozen=True)
class Store:
    """A bucket of an S3 server."""

    endpoint: str
    jars: Path

    @property
    def options(self) -> dict[str, Any]:
        return {"key": NAME, "secret": PASSWORD, "endpoint_url": self.endpoint}

    def folder(self) -> str:
        """Name a folder that nobody else has."""
        return f"s3a://{BUCKET}/{uuid4().hex}"


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    if "MUNTIN_S3_JARS" not in os.environ:
        pytest.skip("an object store has an environment of its own: make test-s3")
    boto3: Any = pytest.importorskip("boto3")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"aws_access_key_id": NAME, "aws_secret_access_key": PASSWORD, "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=endpoint, **keys).create_bucket(Bucket=BUCKET)
    yield Store(endpoint, Path(os.environ["MUNTIN_S3_JARS"]).absolute())
    server.stop()


@pytest.fixture(scope="session")
def spark(store: Store) -> Iterator[SparkSession]:
    if (store.jars / "missing").exists():
        pytest.skip((store.jars / "missing").read_text(encoding="utf-8").strip())
    settings = PATIENT | {
        "spark.jars": ",".join(map(str, sorted(store.jars.glob("*.jar")))),
        "spark.sql.shuffle.partitions": 2,
        "spark.hadoop.fs.s3a.endpoint": store.endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": True,
        "spark.hadoop.fs.s3a.access.key": NAME,
        "spark.hadoop.fs.s3a.secret.key": PASSWORD,
    }
    session = mt.session(master="local[2]", config=settings)
    yield session
    session.stop()
