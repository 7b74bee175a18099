import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.versions import SETS, enter, run_now

# Queries of tests are many and small: a quarter of the time would go into compiling what runs once.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# Spark's workers find tests.worker_daemon from every folder.
ROOT = str(Path(__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))

settings.register_profile("standard", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("quick", settings.get_profile("standard"), max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("standard")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files anew")
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")
    parser.addoption("--cases", type=int, default=4, help="random queries that are compared with plain Spark")
    parser.addoption("--record", choices=SETS, help="enter this run into the record of tested versions, as which set")
    parser.addoption("--kills", type=int, default=1, help="how often a running stream is killed in each recovery test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="only with --long"))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    chosen = config.getoption("--record")
    if chosen is None or hasattr(config, "workerinput"):  # a worker has seen its own share of the tests alone
        return
    count = {name: len(terminalreporter.stats.get(name, ())) for name in ("passed", "skipped", "failed", "error")}
    enter(run_now(chosen, passed=count["passed"], skipped=count["skipped"], failed=count["failed"] + count["error"]))
