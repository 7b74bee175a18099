"""Window aggregates in Flink SQL, run by the Python of an environment that has PyFlink; it knows nothing of Muntin.

usage: python flink_job.py < requests
A request is a line of JSON: {"jars": […], "windows": [[600, 600], …], "watermark": 60, "settings": {…}, "source": {…},
"sink": {…}}, with the range and slide of windows in seconds. All windows are one statement set over one source, each a
table function of its own, as Flink's documentation writes them. Every request is answered by a line: the seconds of its
run, and Flink's version. One process runs them all, so that only its first run is cold.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink.table import TableEnvironment

SETTINGS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "table.local-time-zone": "UTC",
    "table.optimizer.reuse-source-enabled": "true",
    "table.optimizer.reuse-sub-plan-enabled": "true",
    "taskmanager.memory.network.min": "256mb",
    "taskmanager.memory.network.max": "256mb",
    "taskmanager.memory.managed.size": "1gb",
}
COLUMNS = {"size": "INT", "until": "BIGINT", "key": "INT", "low": "DOUBLE", "total": "DOUBLE", "n": "BIGINT"}
"""What comes out for a window instance and key; until is its end in seconds since 1970."""


def environment(asked: dict[str, Any]) -> TableEnvironment:
    """Give a streaming environment with the state and the checkpoints that are asked for."""
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = SETTINGS | asked.get("settings", {})
    settings["pipeline.jars"] = ";".join(f"file://{jar}" for jar in asked["jars"])
    settings["pipeline.classpaths"] = settings["pipeline.jars"]
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    made = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    return TableEnvironment.create(made)


def options(connector: dict[str, str]) -> str:
    """Write the options of a table."""
    return ", ".join(f"'{key}' = '{value}'" for key, value in connector.items())


def run(asked: dict[str, Any]) -> float:
    """Evaluate all windows over a source, and give the seconds until it has ended."""
    tables = environment(asked)
    delay = f"INTERVAL '{asked['watermark']}' SECOND"
    tables.execute_sql(
        f"CREATE TABLE events (ts TIMESTAMP_LTZ(3), `key` INT, v DOUBLE, WATERMARK FOR ts AS ts - {delay}) "
        f"WITH ({options(asked['source'])})"
    )
    columns = ", ".join(f"`{name}` {type}" for name, type in COLUMNS.items())
    tables.execute_sql(f"CREATE TABLE results ({columns}) WITH ({options(asked['sink'])})")
    together = tables.create_statement_set()
    for range, slide in asked["windows"]:
        together.add_insert_sql(statement(range, slide))
    start = time.perf_counter()
    together.execute().wait()
    return time.perf_counter() - start


def statement(range: int, slide: int) -> str:
    """Ask for one window."""
    second = "INTERVAL '{}' SECOND(6)"
    lengths = second.format(range) if range == slide else f"{second.format(slide)}, {second.format(range)}"
    windows = f"{'TUMBLE' if range == slide else 'HOP'}(TABLE events, DESCRIPTOR(ts), {lengths})"
    until = "TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', window_end)"
    return (
        f"INSERT INTO results SELECT {range}, CAST({until} AS BIGINT), `key`, MIN(v), SUM(v), COUNT(*) "
        f"FROM TABLE({windows}) GROUP BY window_start, window_end, `key`"
    )


def main() -> None:
    """Run what is asked for, one request after the other."""
    from pyflink.version import __version__

    for line in sys.stdin:
        answer = {"seconds": run(json.loads(line)), "flink": __version__}
        print(json.dumps(answer), flush=True)  # noqa: T201 - it is what the caller reads


if __name__ == "__main__":
    main()
