"""What Spark itself says of a DataFrame's plan, asked beneath its public interface.

The public interface prints, and a print can be caught only by changing sys.stdout for all threads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame

_BRANCHES = re.compile(r"[ :+|-]*")
"""What stands before a node in the text of a plan: the deeper, the longer."""
_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.]+(?:E\+\d+)?) (\w+)(?:, rowCount=([\d.E+]+))?")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}


@dataclass(frozen=True, slots=True)
class Size:
    """What Spark takes a DataFrame for."""

    bytes: float
    rows: float | None = None
    """The number of rows, which Spark seldom knows."""


def plan_text(frame: DataFrame, mode: str = "simple") -> str:
    """Give what frame.explain(mode=mode) prints."""
    if not is_classic(frame):
        return str(frame._explain_string(mode=mode))  # type: ignore[operator]
    jvm = frame.sparkSession.sparkContext._jvm
    return str(jvm.PythonSQLUtils.explainString(frame._jdf.queryExecution(), mode))  # type: ignore[union-attr]


def analyzed_text(frame: DataFrame) -> str:
    """Give the text of the plan that is not yet optimized; it takes Spark less time than the physical one."""
    if not is_classic(frame):
        return plan_text(frame, "extended").split("== Analyzed Logical Plan ==")[1].split("== Optimized")[0]
    return str(frame._jdf.queryExecution().analyzed().toString())


def is_stacked(text: str, node: str) -> bool:
    r"""Tell whether a node stands above another of its name in the text of a plan.

    >>> is_stacked("Mark 5\n+- Project\n   +- Mark 1", "Mark"), is_stacked("Join\n:- Mark 1\n+- Mark 2", "Mark")
    (True, False)
    """
    above: int | None = None
    for line in text.splitlines():
        depth = len(_BRANCHES.match(line)[0])  # type: ignore[index]
        if above is not None and depth <= above:
            above = None
        if node in line:
            if above is not None:
                return True
            above = depth
    return False


def plan_size(frame: DataFrame) -> Size | None:
    """Give Spark's own estimate of a DataFrame's size; None if it has none."""
    if not is_classic(frame):
        return read_size(plan_text(frame, "cost"))
    statistics = frame._jdf.queryExecution().optimizedPlan().stats()
    rows = statistics.rowCount()
    return Size(float(statistics.sizeInBytes()), float(rows.get()) if rows.isDefined() else None)


def read_size(text: str) -> Size | None:
    """Read the first size in the text of a plan.

    >>> read_size("Relation [v#1] parquet, Statistics(sizeInBytes=2.0 KiB, rowCount=1.00E+3)")
    Size(bytes=2048.0, rows=1000.0)
    >>> read_size("Relation [v#1] parquet")
    """
    size = _SIZE.search(text)
    if size is None:
        return None
    return Size(float(size[1]) * _UNITS.get(size[2], 1), float(size[3]) if size[3] else None)


def is_classic(frame: DataFrame) -> bool:
    """Tell whether a DataFrame lives in a JVM that this process drives, and not behind Spark Connect."""
    return getattr(frame, "_jdf", None) is not None
