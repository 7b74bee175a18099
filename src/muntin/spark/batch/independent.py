"""The plain Spark plan: one window aggregation for every window, and a union of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.errors import QueryError
from muntin.spark.batch.native import plain
from muntin.spark.input.source import Source, literal
from muntin.window import Session, Window

MOST_PLAIN = 50_000
"""Instances of a row that Spark's own window is asked for: it plans each of them, at some milliseconds."""


def check_plain(windows: Iterable[Window]) -> None:
    """Refuse windows that Spark's own window would take minutes or all memory to plan."""
    for window in windows:
        if window.instances_of_a_row > MOST_PLAIN:
            raise QueryError(
                f"window {window.label!r} puts a row into {window.instances_of_a_row:,} instances, and Spark's own "
                f"window, which plans each of them, is for at most {MOST_PLAIN:,}. Use a longer slide, or mt.aggregate "
                "with another strategy than 'independent'."
            )


def independent(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Evaluate every window alone, as a Spark user writes it."""
    steps = [made.plain for made in source.events.recipes]
    texts = [step for step in steps if isinstance(step, str)]
    if len(texts) < len(steps):  # a function in Python has no name in a text
        return reduce(DataFrame.union, [alone(source, window, source.events.frame) for window in windows])
    return _statement(source, windows, texts)


def alone(source: Source, window: Window, frame: DataFrame, *within: str) -> DataFrame:
    """Evaluate one window over rows, whose groups some columns divide further."""
    groups = plain(source, frame, spark_window(names.TIMESTAMP, window), *within)
    return source.named(groups, source.events.plain, literal(window.label), names.WINDOW)


def sessions(source: Source, windows: tuple[Session, ...]) -> DataFrame:
    """Evaluate every kind of session alone, as a Spark user writes it."""
    results = []
    for window in windows:
        session = F.expr(f"session_window({names.TIMESTAMP}, '{int(window.gap)} microseconds') AS {names.WINDOW}")
        groups = plain(source, source.events.rows, session)
        results.append(source.named(groups, source.events.plain, literal(window.label), names.WINDOW))
    return reduce(DataFrame.union, results)


def spark_window(time: str, window: Window) -> Column:
    """Give Spark's own window of a time."""
    return F.expr(f"{_window(time, window)} AS {names.WINDOW}")


def _window(time: str, window: Window) -> str:
    check_plain([window])
    lengths = ", ".join(f"'{length} microseconds'" for length in window.period)
    return f"window({time}, {lengths})"


def _statement(source: Source, windows: tuple[Window, ...], aggregates: list[str]) -> DataFrame:
    """Evaluate all windows in one statement: Spark is called once, and analyses once, however many they are."""
    results = (f"{step} AS {names.result(i)}" for i, step in enumerate(aggregates))
    measures = (f"CAST({it} AS {source.measure_type})" for it in source.no_measures)
    steps = ", ".join([names.WINDOW, *measures, *source.events.keys, *results])  # Spark calls its own window so
    branches = []
    for window in windows:
        label = f"coalesce({literal(window.label)}, '') AS {names.LABEL}"
        groups = ", ".join([*source.events.keys, _window(names.TIMESTAMP, window)])
        branches.append(f"SELECT {label}, {steps} FROM {{rows}} GROUP BY {groups}")  # noqa: S608 - our own
    return source.events.frame.sparkSession.sql(_union(branches), rows=source.events.frame).toDF(*source.query.outputs)


def _union(branches: list[str]) -> str:
    """Write a union as a tree of little depth: Spark reads a long chain by as many calls within one another."""
    if len(branches) == 1:
        return branches[0]
    middle = len(branches) // 2
    return f"({_union(branches[:middle])}) UNION ALL ({_union(branches[middle:])})"
