"""Which techniques are expected to combine partials in Python workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from muntin.spark.input.source import Events
from muntin.spark.workers.layout import reduced_parts
from muntin.techniques import Need, cheapest

Kinds = Mapping[frozenset[Need], Sequence[str]]
"""Aggregates by what their partials offer."""


def kinds_of(source: Events) -> Kinds:
    """Sort the aggregates of a query by what their partials offer."""
    kinds: dict[frozenset[Need], list[str]] = {}
    for aggregate, made, _ in reduced_parts(source):
        kinds.setdefault(frozenset(made.offers), []).append(repr(aggregate))
    return kinds


def expected(kinds: Kinds, members: float, arrivals: float) -> str:
    """Name the techniques for ranges of so many partials, so many of them new, and the aggregates that use each."""
    chosen: dict[str, list[str]] = {}
    for offers, asked in kinds.items():
        chosen.setdefault(cheapest(offers, members, arrivals).name, []).extend(asked)
    return ", ".join(f"{name} for {', '.join(dict.fromkeys(asked))}" for name, asked in chosen.items())
