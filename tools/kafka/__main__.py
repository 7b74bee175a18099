"""python -m tools.kafka: a broker until Ctrl-C, or the connector's jars for `spark.jars`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from tools.kafka.artifacts import Missing, connector_jars
from tools.kafka.broker import Broker


def main() -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m tools.kafka", description=__doc__)
    parser.add_argument("command", choices=["run", "jars"], help="run a broker; print the jars for spark.jars")
    parser.add_argument("--port", type=int, default=9092, help="the broker's port (9092)")
    parser.add_argument("--folder", type=Path, help="where topics stay; without it they go when the broker ends")
    arguments = parser.parse_args()
    try:
        if arguments.command == "jars":
            print(",".join(map(str, connector_jars(version("pyspark")))))
        elif arguments.folder is not None:
            run(Broker(arguments.folder.absolute(), arguments.port))
        else:
            with tempfile.TemporaryDirectory(prefix="kafka-") as folder:
                run(Broker(Path(folder), arguments.port))
    except Missing as reason:
        sys.exit(f"Kafka cannot be had: {reason}")


def run(broker: Broker) -> None:
    """Run a broker until a signal ends it."""
    print("Starting Kafka (the first time its jars are fetched) ...", flush=True)
    try:
        broker.start()
        print(f"Kafka listens on {broker.servers}. Ctrl-C ends it.", flush=True)
        for ending in (signal.SIGINT, signal.SIGTERM):  # a shell lets its background jobs ignore the first
            signal.signal(ending, signal.default_int_handler)
        signal.pause()
    except KeyboardInterrupt:
        print("Stopping Kafka ...", flush=True)
    finally:
        broker.stop()


if __name__ == "__main__":
    main()
