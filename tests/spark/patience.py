"""Patience with a busy machine: settings of sessions, and queries that are started once more."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

PATIENT = {
    "spark.python.daemon.module": "tests.worker_daemon",
    "spark.driver.memory": "1g",
    "spark.executor.heartbeatInterval": "60s",
    "spark.network.timeout": "900s",
    "spark.python.authenticate.socketTimeout": "300s",
}
LONG = 1200
"""Seconds after which something that should end will not."""
PAUSES = (1, 5, 15, 30, 60, 60, 60)
"""Seconds before a query is started once more."""
TOO_SLOW = "Python worker failed to connect back"
"""What Spark says if the worker that names columnar state takes ten seconds to start; no setting gives it longer."""


def patiently(
    start: Callable[[], StreamingQuery], wait: Callable[[StreamingQuery], object], forget: Path | None = None
) -> StreamingQuery:
    """Start a query and wait, and start it once more where its worker was too slow.

    A query that cannot go on from its checkpoint, as one into memory, has to forget it.
    """
    for pause in PAUSES:
        query = start()
        try:
            wait(query)
        except StreamingQueryException as error:
            if TOO_SLOW not in str(error):
                raise
        else:
            return query
        if forget is not None:
            shutil.rmtree(forget)
        time.sleep(pause)
    query = start()
    wait(query)
    return query


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what a listener is told a little later."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "the listener does not hear of it"
        time.sleep(0.1)


def to_the_end(query: StreamingQuery) -> None:
    """Wait until a query ends."""
    try:
        assert query.awaitTermination(LONG), "the query does not end"
    finally:
        query.stop()
