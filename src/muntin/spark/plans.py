"""What Spark itself says of a DataFrame's plan, asked beneath its public interface.

The public interface prints, and a print can be caught only by changing sys.stdout for all threads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

_NODE = re.compile(r"([ :+|-]*)(\w+)(?:$|[ (\[~].*)")
"""A node in the text of a plan: the deeper, the more stands before it."""
_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.]+(?:E\+\d+)?) (\w+)(?:, rowCount=([\d.E+]+))?")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}


@dataclass(frozen=True, slots=True)
class Size:
    """What Spark takes a DataFrame for."""

    bytes: float
    rows: float | None = None
    """The number of rows, which Spark seldom knows."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a plan that is analyzed and not yet optimized."""

    name: str
    children: tuple[Node, ...] = ()

    def below(self) -> Iterator[Node]:
        """Yield all nodes below it, each before its own children."""
        for child in self.children:
            yield child
            yield from child.below()


def analyzed_plan(frame: DataFrame) -> Node:
    """Give the analyzed plan of a DataFrame; Spark Connect has only its text to give."""
    if is_classic(frame):
        return read_plan(frame._jdf.queryExecution().analyzed().toJSON())
    text = str(frame._explain_string(mode="extended"))  # type: ignore[operator]
    analyzed = text.split("== Analyzed Logical Plan ==")[1].split("== Optimized")[0]
    return read_text(analyzed.split("\n", 2)[2])  # the first line has the columns


def read_plan(told: str) -> Node:
    """Read a plan that Spark has written as JSON: its nodes, each before its children, with their numbers.

    >>> read_plan('[{"class": "a.b.Filter", "num-children": 1}, {"class": "a.b.Range", "num-children": 0}]')
    Node(name='Filter', children=(Node(name='Range', children=()),))
    """
    fields = iter(json.loads(told))

    def following() -> Node:
        own = next(fields)
        name = own["class"].rpartition(".")[2]
        if name == "Repartition" and not own["shuffle"]:
            name = "Coalesce"
        return Node(name, tuple(following() for _ in range(own["num-children"])))

    return following()


def read_text(text: str) -> Node:
    r"""Read a plan that Spark has written as text, in which deeper nodes stand further to the right.

    >>> read_text("Union\n:- Range (0, 1)\n+- Filter (x > 1)\n   +- Range (1, 2)").children[1]
    Node(name='Filter', children=(Node(name='Range', children=()),))
    """
    nodes: list[tuple[int, str, list[Any]]] = [(-1, "", [])]
    for line in text.splitlines():
        if not (written := _NODE.fullmatch(line)):
            continue  # a text that goes on
        depth, name = len(written[1]), written[2]
        while nodes[-1][0] >= depth:
            _close(nodes)
        nodes.append((depth, name, []))
    while len(nodes) > 1:
        _close(nodes)
    top = nodes[0][2]
    return top[0] if len(top) == 1 else Node("", tuple(top))


def _close(nodes: list[tuple[int, str, list[Any]]]) -> None:
    _, name, children = nodes.pop()
    nodes[-1][2].append(Node(name, tuple(children)))


def plan_size(frame: DataFrame) -> Size | None:
    """Give Spark's own estimate of a DataFrame's size; None if it has none."""
    if not is_classic(frame):
        return read_size(str(frame._explain_string(mode="cost")))  # type: ignore[operator]
    statistics = optimized_plan(frame).stats()
    rows = statistics.rowCount()
    return Size(float(statistics.sizeInBytes()), float(rows.get()) if rows.isDefined() else None)


def optimized_plan(frame: DataFrame) -> Any:
    """Return Spark's own optimized plan of a classic DataFrame, an object of the JVM."""
    return frame._jdf.queryExecution().optimizedPlan()


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


def leaf_bytes(frame: DataFrame) -> float:
    """Return Spark's estimate of all that a DataFrame reads, which joins do not multiply."""
    classic = is_classic(frame)
    text = frame._jdf.queryExecution().stringWithStats() if classic else frame._explain_string(mode="cost")  # type: ignore[operator]
    return read_leaf_bytes(str(text))


def read_leaf_bytes(text: str) -> float:
    r"""Add up the sizes of the leaves in the text of a plan: of nodes that no deeper one follows.

    >>> read_leaf_bytes(
    ...     "Join Inner, Statistics(sizeInBytes=1.0 MiB)\n"
    ...     ":- Range (0, 1), Statistics(sizeInBytes=3.0 KiB)\n"
    ...     "+- Filter (x > 1), Statistics(sizeInBytes=2.0 KiB)\n"
    ...     "   +- Range (1, 2), Statistics(sizeInBytes=2.0 KiB)\n"
    ... )
    5120.0
    """
    lines = text.partition("== Physical Plan ==")[0].splitlines()
    nodes = [
        (len(written[1]), size.bytes)
        for line in lines
        if (size := read_size(line)) and (written := _NODE.fullmatch(line))
    ]
    depths = [*(depth for depth, _ in nodes[1:]), 0]
    return sum(size for (depth, size), following in zip(nodes, depths, strict=True) if following <= depth)


def is_classic(frame: DataFrame) -> bool:
    """Tell whether a DataFrame lives in a JVM that this process drives, and not behind Spark Connect."""
    return getattr(frame, "_jdf", None) is not None
