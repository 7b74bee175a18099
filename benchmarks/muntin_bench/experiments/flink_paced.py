"""Events at a steady pace into a Kafka topic, run by the Python of an environment that has kafka-python.

usage: python flink_paced.py SERVERS TOPIC EVENTS_PER_SECOND SECONDS KEYS
An event's time is the time at which it is sent. When the first has arrived, it prints a line: there is a topic.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime


def main(servers: str, topic: str, rate: int, seconds: int, keys: int) -> None:
    """Send events one by one, each when its time has come."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=0)
    start = time.time()
    for number in range(rate * seconds):
        time.sleep(max(0.0, start + number / rate - time.time()))
        now = datetime.now(UTC).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")
        event = {"ts": now, "key": number % keys, "v": float(number % 1000)}
        sent = producer.send(topic, json.dumps(event).encode())
        if number == 0:
            sent.get(timeout=60)
            print("sending", flush=True)  # noqa: T201 - it is what the caller waits for
            start = time.time()
    producer.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
