"""The record of what was tested on which versions, and the table that documents show of it.

A run of pytest with --record SET enters what it found; `python -m tests.versions` writes the tables anew.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benchmarks" / "results" / "versions.json"
DOCUMENTS = (ROOT / "docs" / "versions.md",)
BEGIN, END = "<!-- versions: written by python -m tests.versions -->", "<!-- end of versions -->"
STALE = timedelta(days=30)
"""After this time a run that finds the same is entered again."""

Set = Literal["suite", "smoke"]
"""What was run: every test that starts Spark, or one file each for batch, rolling windows and streams."""
SETS: tuple[Set, ...] = get_args(Set)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a set of tests, on given versions."""

    spark: str
    python: str
    pandas: str
    java: str
    set: Set
    passed: int
    skipped: int
    failed: int
    date: str

    @property
    def place(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Where it stands in the record: a later run on the same minor versions takes its place."""
        return _minor(self.spark), _minor(self.python), SETS.index(self.set)

    def says_the_same(self, other: Run) -> bool:
        """Tell whether another run was on the same versions, as successful, and not long before."""
        apart = abs(date.fromisoformat(self.date) - date.fromisoformat(other.date))
        return self._outcome() == other._outcome() and apart < STALE

    def _outcome(self) -> tuple[object, ...]:
        return self.spark, self.python, self.pandas, self.java, self.set, bool(self.failed)


def run_now(chosen: Set, *, passed: int, skipped: int, failed: int) -> Run:
    """Describe a run that ends now, in this environment."""
    home = os.environ.get("JAVA_HOME")
    command = [str(Path(home) / "bin" / "java") if home else "java", "-version"]
    spoken = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    java = re.search(r'version "([\d.]+)', spoken)
    return Run(
        *(version("pyspark"), platform.python_version(), version("pandas"), java[1] if java else "unknown"),
        *(chosen, passed, skipped, failed),
        datetime.now(UTC).date().isoformat(),
    )


def read(path: Path = RECORD) -> tuple[Run, ...]:
    """Read the record; an empty one where there is none."""
    return tuple(Run(**fields) for fields in json.loads(path.read_text(encoding="utf-8"))) if path.exists() else ()


def enter(run: Run, path: Path = RECORD) -> None:
    """Enter a run in the place of an earlier one; a run that says nothing new leaves the record as it is."""
    runs = {one.place: one for one in read(path)}
    before = runs.get(run.place)
    if before is not None and run.says_the_same(before):
        return
    runs[run.place] = run
    texts = (f"  {json.dumps(asdict(runs[place]))}" for place in sorted(runs))
    path.write_text("[\n" + ",\n".join(texts) + "\n]\n", encoding="utf-8")


def table(runs: Iterable[Run]) -> str:
    """Write runs as a table: newest Spark first, and all that ran on it."""
    lines = ["| Spark | Python | pandas | Java | tests | passed | skipped | failed | on |", "|" + "---|" * 9]
    for run in sorted(runs, key=lambda run: run.place, reverse=True):
        fields = asdict(run)
        lines.append("| " + " | ".join(str(fields[name]) for name in fields) + " |")
    return "\n".join(lines)


def with_table(text: str, runs: Iterable[Run]) -> str:
    """Give a document with the table in its marked place; without a mark it stays as it is."""
    if BEGIN not in text:
        return text
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table(runs)}\n{END}{after}"


def _minor(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def main() -> None:
    """Write the tables anew."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if (written := with_table(text, read())) != text:
            document.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
