"""One broker in KRaft mode, which is its own controller, on loopback only."""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools.kafka.artifacts import broker_jars

CLUSTER = "muntin-on-loopback-000"
"""The cluster's id: 22 characters of base 64, the same for all, since each has its own folder."""
PARTITIONS = 4
"""Partitions of a topic that is made by writing to it."""
PATIENCE = 300.0
"""Seconds that a broker may take to start or to end."""

SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
num.partitions={partitions}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


def free_port() -> int:
    """Give a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Broker:
    """A broker that keeps its topics in a folder; stopped and started again, it has what it had, under one address."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def servers(self) -> str:
        """The address that clients take."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the broker, and wait until it listens."""
        settings = self.folder / "server.properties"
        if not settings.exists():
            self._format(settings)
        self.process = self._java("kafka.Kafka", str(settings))
        deadline = time.monotonic() + PATIENCE
        while not self._listens():
            if self.process.poll() is not None:
                raise RuntimeError(f"the broker ended with {self.process.returncode}: {self._log()}")
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"the broker does not listen on {self.servers}: {self._log()}")
            time.sleep(0.1)

    def stop(self, *, kill: bool = False) -> None:
        """End the broker; with kill, as a power failure does."""
        if self.process is None:
            return
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def _format(self, settings: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = SETTINGS.format(
            port=self.port, controller=free_port(), logs=self.folder / "topics", partitions=PARTITIONS
        )
        settings.write_text(text, encoding="utf-8")
        done = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(settings)).wait(PATIENCE)
        if done != 0:
            settings.unlink()
            raise RuntimeError(f"the folder of the broker cannot be made: {self._log()}")

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a class of Kafka in a session of its own, so that Ctrl-C is for the one who started it."""
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                ["java", "-Xmx512m", "-cp", f"{broker_jars()}/*", *command],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5):
                return True
        except OSError:
            return False

    def _log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:]
