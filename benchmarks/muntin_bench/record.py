"""Result files: what was measured, with the machine, the versions, the commit and the command."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CODE = (":/src/muntin", ":/benchmarks/muntin_bench")
"""Where git finds the code that is measured and the code that measures it."""
DIRTY = "-dirty"
"""The mark of a commit whose code was changed before the measurement."""


def record(name: str, command: str, rows: Iterable[Row], **settings: Any) -> Row:
    """Put rows of an experiment together with the circumstances under which they were measured."""
    return {
        "name": name,
        "command": command,
        "settings": settings,
        "circumstances": {
            "date": datetime.now(UTC).date().isoformat(),
            "commit": _commit(),
            "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
            "versions": {
                "python": platform.python_version(),
                **{package: version(package) for package in ("muntin", "numpy")},
                **_engines(),
            },
        },
        "rows": list(rows),
    }


def save(result: Row, path: Path) -> None:
    """Write a result file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> Row:
    """Read a result file."""
    result: Row = json.loads(path.read_text(encoding="utf-8"))
    return result


def git(*arguments: str) -> str | None:
    """Return what git says in the folder of the benchmarks, or None where it knows nothing."""
    command = ["git", "-C", str(Path(__file__).parent.parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _commit() -> str | None:
    """Name the commit that is measured; a mark says that the code differs from it."""
    commit, changes = git("rev-parse", "--short", "HEAD"), git("status", "--porcelain", "--", *CODE)
    return commit and commit + (DIRTY if changes else "")


def _engines() -> dict[str, str]:
    """Name the versions of the engines that this process has used."""
    engines = ("pyspark", "pyarrow", "numba", "duckdb", "polars")
    return {engine: version(engine) for engine in engines if engine in sys.modules}


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
