"""Which techniques are expected to combine partials in Python workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from muntin.arrow.holistic import Holistic
from muntin.arrow.reducers import Reducer
from muntin.spark.input.events import Events
from muntin.spark.workers.layout import reducers
from muntin.techniques import Need, cheapest

Kinds = Mapping[frozenset[Need] | str, Sequence[str]]
"""Aggregates by what their partials offer, or by the technique that reads rows where there are no partials."""


def kinds_of(events: Events) -> Kinds:
    """Sort the aggregates of a query by what their partials offer."""
    offers = {part: _offers(reducer) for part, reducer in reducers(events).items()}
    kinds: dict[frozenset[Need] | str, list[str]] = {}
    for made in events.recipes:
        for part in made.parts:
            kinds.setdefault(offers[part.key], []).append(repr(made.aggregate))
    return kinds


def expected(kinds: Kinds, members: float, arrivals: float) -> str:
    """Name the techniques for ranges of so many partials, so many of them new, and the aggregates that use each."""
    chosen: dict[str, list[str]] = {}
    for offers, asked in kinds.items():
        name = offers if isinstance(offers, str) else cheapest(offers, members, arrivals).name
        chosen.setdefault(name, []).extend(asked)
    return ", ".join(f"{name} for {', '.join(dict.fromkeys(asked))}" for name, asked in chosen.items())


def _offers(reducer: Reducer) -> frozenset[Need] | str:
    return reducer.technique if isinstance(reducer, Holistic) else frozenset(reducer.offers)
