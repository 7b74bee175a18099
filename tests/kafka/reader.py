"""Somebody who follows a page step by step in an empty folder: a Python that stays open, and a terminal beside it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer

from tests.documents import ROOT, RUN, Block, blocks, with_output
from tests.spark.patience import LONG, PATIENT, TOO_SLOW
from tools.kafka.broker import free_port

GIVEN = ("pip install", "docker ")
"""Steps that the tests have done: Muntin is installed, and a broker runs."""
ATTEMPTS = 3
SOON = 60
"""Seconds within which a command prints what the page shows: Spark tells listeners a little later."""
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
END = "<<end of block>>"
PROMPT = f"""
import json, sys
scope = {{"__name__": "__main__"}}
for line in sys.stdin:
    exec(compile(json.loads(line), "page", "exec"), scope)
    print({END!r}, flush=True)
"""
"""Runs blocks as they come, in a namespace of their own."""


@dataclass(slots=True)
class Reader:
    """Does what the blocks of a page say, in a folder."""

    folder: Path
    places: Mapping[str, str]
    """What stands on the page for what is free on this machine: addresses and ports."""
    settings: dict[str, str]
    """Variables of the environment."""
    golden: bool = False
    """Whether commands may print something else than what the page shows."""
    python: subprocess.Popen[str] | None = None

    def follow(self, block: Block) -> str:
        """Do one step, and give what it prints; ids are left out."""
        for written, here in self.places.items():
            block = replace(block, code=block.code.replace(written, here))
        if block.title is not None:
            (self.folder / block.title).write_text(block.code, encoding="utf-8")
            return "\n"
        printed = self._shell(block) if block.language == "sh" else self._python(block.code)
        return UUID.sub("…", printed).rstrip() + "\n"

    def leave(self) -> None:
        """End the Python that is open, with all that runs in it."""
        if self.python is not None:
            self.python.kill()
            self.python.wait(LONG)
            self.python = None

    def environment(self) -> dict[str, str]:
        """Let processes find the commands that the page has installed, or else those beside this Python."""
        own = self.folder / ".venv/bin"
        return patient(own if own.exists() else Path(sys.executable).parent) | self.settings

    def _shell(self, block: Block) -> str:
        if block.output is not None and self.golden:
            time.sleep(SOON / 10)
        deadline = time.monotonic() + SOON
        while True:
            printed = run(["bash", "-euo", "pipefail", "-c", block.code], self.folder, self.environment())
            shown = block.output in (None, UUID.sub("…", printed))
            if shown or self.golden or time.monotonic() > deadline:
                return printed
            time.sleep(1)

    def _python(self, code: str) -> str:
        """Run a block in the Python that is open; only one that kills it may end it."""
        self.python = self.python or self._open()
        assert self.python.stdin is not None
        assert self.python.stdout is not None
        self.python.stdin.write(json.dumps(code) + "\n")
        self.python.stdin.flush()
        limit = Timer(LONG, self.python.kill)
        limit.start()
        printed = ""
        for line in self.python.stdout:
            if line == f"{END}\n":
                limit.cancel()
                return printed
            printed += line
        limit.cancel()
        ended, self.python = self.python.wait(LONG), None
        told = f"{code}\n{printed[-2000:]}\n{self._errors().read_text(encoding='utf-8')[-4000:]}"
        assert ended == -signal.SIGKILL, told
        assert "os.kill" in code, f"after {LONG} seconds: {told}"
        return printed

    def _open(self) -> subprocess.Popen[str]:
        environment = self.environment()
        python = shutil.which("python", path=environment["PATH"]) or sys.executable
        with self._errors().open("a") as errors:
            return subprocess.Popen(
                [python, "-c", PROMPT],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def _errors(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.errors")


def patient(commands: Path = Path(sys.executable).parent) -> dict[str, str]:
    """Give variables with which processes find commands, and Spark is patient with a busy machine."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    patience = " ".join(f"--conf {key}={value}" for key, value in PATIENT.items())
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return alone | {"PATH": path, "PYSPARK_SUBMIT_ARGS": f"{patience} pyspark-shell"}


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a process to its end, and give what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONG, env=environment)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@contextmanager
def make_kafka(folder: Path) -> Iterator[str]:
    """Run the broker that `make kafka` runs, until Ctrl-C; give its address."""
    port = free_port()
    command = [sys.executable, "-m", "tools.kafka", "run", "--port", str(port), "--folder", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any(f"Kafka listens on 127.0.0.1:{port}" in line for line in process.stdout)
        yield f"127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0


def follow(
    page: Path, at: Path, *, given: tuple[str, ...] = GIVEN, settings: dict[str, str] | None = None, golden: bool
) -> Path:
    """Follow a page from an empty folder, and compare what it prints, or write it; give the folder.

    Where a Python worker was too slow for Spark, the page is followed once more, in another folder.
    """
    for attempt in range(ATTEMPTS):
        folder = at / str(attempt)
        folder.mkdir()
        try:
            follow_once(page, folder, given, settings or {}, golden)
        except AssertionError as error:
            if TOO_SLOW not in str(error) or attempt + 1 == ATTEMPTS:
                raise
        else:
            break
    return folder


def follow_once(page: Path, folder: Path, given: tuple[str, ...], settings: dict[str, str], golden: bool) -> None:
    text = page.read_text(encoding="utf-8")
    steps = [block for block in blocks(text) if block.language in RUN and not any(one in block.code for one in given)]
    assert all(block.reason is None for block in steps), "every step can be run"
    with make_kafka(folder.with_name(f"{folder.name}.broker")) as servers:
        places = {"localhost:9092": servers, "9464": str(free_port())}
        reader = Reader(folder, places, settings, golden)
        try:
            for block in steps:
                printed = reader.follow(block)
                if golden:
                    text = with_output(text, block, printed)
                elif block.output is not None or block.language == "python":
                    assert printed == (block.output or "\n"), f"{page.name}, line {block.line}: {block.code}"
        finally:
            reader.leave()
    if golden:
        page.write_text(text, encoding="utf-8")
