"""The demos, with few readings: each in a process of its own, since they end their session."""

import subprocess
import sys
import time

import pytest

from tests.spark.patience import LONG, PAUSES, TOO_SLOW


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "times as fast as plain Spark, and gave the same"),
        pytest.param(("--stream",), "Every row is one that batch gives.", marks=pytest.mark.long),
    ],
    ids=["batch", "stream"],
)
def test_the_demo_runs(options: tuple[str, ...], said: str) -> None:
    command = [sys.executable, "-m", "muntin", "demo", "--rows", "20000", *options]
    for pause in (*PAUSES, 0):
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
        if TOO_SLOW not in done.stderr:
            break
        time.sleep(pause)
    assert done.returncode == 0, done.stderr[-3000:]
    assert said in " ".join(done.stdout.split())
