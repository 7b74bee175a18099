"""Which windows share a tree: none, all, or those that greedy merging finds worth it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.plan.slicing.edges import Grids, pairs
from muntin.plan.slicing.merging import merge
from muntin.plan.slicing.weave.model import Model
from muntin.plan.slicing.weave.trees import Trees
from muntin.window import Window

MOST_STARTS = 20_000
"""Windows that start as trees of their own at most; of more, those with equal edges start together."""


def no_share(model: Model, windows: Sequence[Window]) -> list[list[Window]]:
    """Give every window a tree of its own."""
    return [[window] for window in windows]


def max_share(model: Model, windows: Sequence[Window]) -> list[list[Window]]:
    """Put all windows into one tree."""
    return [list(windows)]


def weave_share(model: Model, windows: Sequence[Window], most_starts: int = MOST_STARTS) -> list[list[Window]]:
    """Start without sharing and merge greedily.

    Where operations add up and never fall with more edges (panes, FlatFIT), no merge saves more than one of equal
    edges, so those are done at once. For many windows they are done at once anyhow: the result may then differ from
    that of single steps.
    """
    together = model.groups_by_edges or len(windows) > most_starts
    trees = Trees(model, equal_edges(windows) if together else no_share(model, windows))
    merge(trees)
    return trees.windows


def equal_edges(windows: Iterable[Window]) -> list[list[Window]]:
    """Group windows that begin and end at the same times.

    >>> equal_edges([Window(6, 2), Window(9, 3), Window(8, 2)])
    [[Window(6, 2), Window(8, 2)], [Window(9, 3)]]
    """
    by_edges: dict[Grids, list[Window]] = {}
    for window in windows:
        by_edges.setdefault(pairs(window), []).append(window)
    return list(by_edges.values())
