"""Prometheus text: the exposition format, version 0.0.4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from muntin.spark.stream.metrics.families import Family

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]


def exposition(families: Iterable[tuple[Family, list[tuple[Labels, float]]]]) -> str:
    r"""Write metrics as text; those without a value are left out.

    >>> up = Family("up", "gauge", "1 while it runs.")
    >>> print(exposition([(up, [({"query": 'a "b"'}, 1)])]), end="")
    # HELP up 1 while it runs.
    # TYPE up gauge
    up{query="a \"b\""} 1
    """
    return "".join(_family(family, values) for family, values in families if values)


def _family(family: Family, values: list[tuple[Labels, float]]) -> str:
    help = family.help.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {help}", f"# TYPE {family.name} {family.kind}"]
    lines += [f"{family.name}{_labels(labels)} {_number(value)}" for labels, value in values]
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    r"""Escape a label's value.

    >>> print(_escaped('a\\b "5 min"'))
    a\\b \"5 min\"
    """
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """Write a number as Prometheus reads it.

    >>> [_number(value) for value in (3, 0.25, math.nan, -math.inf)]
    ['3', '0.25', 'NaN', '-Inf']
    """
    if math.isfinite(value):
        return repr(round(value, 6))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
