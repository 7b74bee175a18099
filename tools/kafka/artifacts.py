"""The broker's jars and the connector's, fetched by Maven once and kept in .kafka/."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tools.checksums import check_jars

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / ".kafka"
"""What is fetched stays here; git ignores it."""

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
CONNECTORS: Mapping[str, str] = {"4.0": "4.0.1", "4.1": "4.1.1", "4.2": "4.2.0", "4.3": "4.2.0"}
"""The connector for a minor version of Spark. None is published for 4.3, and that for 4.2 works with it."""
BESIDE = (
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
"""What a connector needs that Spark does not have."""
ATTEMPTS = 3


class Missing(Exception):  # noqa: N818 - it is the reason for a skip as well
    """What cannot be had, and why."""


def connector(spark: str) -> tuple[str, ...]:
    """Name the artifacts that a version of Spark reads Kafka with.

    >>> connector("4.3.0")[0]
    'org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0'
    """
    minor = ".".join(spark.split(".")[:2])
    if minor not in CONNECTORS:
        raise Missing(f"no connector is known for Spark {spark}. There are some for {', '.join(CONNECTORS)}.")
    return (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{CONNECTORS[minor]}", *BESIDE)


def connector_jars(spark: str) -> tuple[Path, ...]:
    """Give the jars for `spark.jars`, each fetched if it is not there."""
    folder = KEPT / "connector"
    jars = []
    for artifact in connector(spark):
        _, name, version = artifact.split(":")
        jar = folder / f"{name}-{version}.jar"
        if not jar.exists():
            _maven(f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
        jars.append(jar)
    check_jars(folder)
    return tuple(jars)


def broker_jars() -> Path:
    """Give the folder with all that the broker needs, fetched if it is not there; it appears when it is complete."""
    folder = KEPT / "broker"
    if not folder.exists():
        unfinished = KEPT / "broker.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        _maven("-f", str(HERE / "broker.xml"), f"{PLUGIN}:copy-dependencies", f"-DoutputDirectory={unfinished}")
        unfinished.rename(folder)
    check_jars(folder)
    return folder


def _maven(*arguments: str) -> None:
    """Run Maven, and once more after a failure, which it would otherwise remember."""
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing("Maven (mvn) is not installed, which fetches the jars.")
    KEPT.mkdir(exist_ok=True)
    for _ in range(ATTEMPTS):
        done = subprocess.run([maven, "-q", "-B", "-U", *arguments], capture_output=True, text=True, cwd=KEPT)
        if done.returncode == 0:
            return
    reasons = [line for line in done.stdout.splitlines() if "ERROR" in line]
    raise Missing(f"Maven cannot fetch {arguments[-2]}: {reasons[0] if reasons else done.stderr.strip()}")
