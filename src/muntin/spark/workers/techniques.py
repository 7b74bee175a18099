"""Which techniques are expected to combine partials in Python workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from muntin.spark.input.events import Events
from muntin.spark.workers.layout import reducers
from muntin.techniques import Need, cheapest

Kinds = Mapping[frozenset[Need], Sequence[str]]
"""Aggregates by what their partials offer."""


def kinds_of(events: Events) -> Kinds:
    """Sort the aggregates of a query by what their partials offer."""
    offers = {part: frozenset(reducer.offers) for part, reducer in reducers(events).items()}
    kinds: dict[frozenset[Need], list[str]] = {}
    for made in events.recipes:
        for part in made.parts:
            kinds.setdefault(offers[part.key], []).append(repr(made.aggregate))
    return kinds


def expected(kinds: Kinds, members: float, arrivals: float) -> str:
    """Name the techniques for ranges of so many partials, so many of them new, and the aggregates that use each."""
    chosen: dict[str, list[str]] = {}
    for offers, asked in kinds.items():
        chosen.setdefault(cheapest(offers, members, arrivals).name, []).extend(asked)
    return ", ".join(f"{name} for {', '.join(dict.fromkeys(asked))}" for name, asked in chosen.items())
