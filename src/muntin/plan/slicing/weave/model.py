"""What a plan costs: Equation 1 of the incremental-evaluation paper, C = mλ + ΣE·Ω over m trees, and TriWeave's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from muntin.plan.slicing.edges import LONGEST_MARKED, Grids, edge_rate, edges_of, period
from muntin.plan.slicing.grids import density, union
from muntin.plan.slicing.weave.omega import Omega
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class Model:
    """The operations of a technique, and what a tree costs besides them."""

    omega: Omega
    per_tree: float
    """Inputs of a tree per unit of time."""
    per_edge: float = 0.0
    """Operations at each edge beside Ω."""
    once: float = 0.0
    """What is paid once, however many trees."""

    @property
    def groups_by_edges(self) -> bool:
        """Whether joining windows of equal edges saves more than any other merge, so that greedy does it first."""
        return self.omega.is_monotone and self.per_edge == 0

    def cost(self, trees: Iterable[Iterable[Window]]) -> float:
        """Price a plan: operations per unit of time."""
        return self.once + sum(map(self.tree, trees))

    def tree(self, windows: Iterable[Window]) -> float:
        """Price one tree, what is paid once left out."""
        windows = tuple(windows)
        ranges = np.array([int(window.range) for window in windows], dtype=np.float64)
        slides = np.array([int(window.slide) for window in windows], dtype=np.float64)
        edges, length = ratio(edges_of(windows))
        operations = self.omega.operations(ranges, slides, edges, length)
        return self.per_tree + edges / length * (self.per_edge + operations)


def weave_share_model(omega: Omega, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let every tree aggregate the input by itself (Equation 1)."""
    return Model(omega, per_tree=float(rate))


def tri_weave_model(omega: Omega, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let one aggregator cut the input by all edges, and every tree read its partials (variant A)."""
    edges, length = ratio(edges_of(windows))
    return Model(omega, per_tree=edges / length, once=float(rate))


def tri_weave_b_model(omega: Omega, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let one aggregator hand each tree the partials between the tree's own edges (variant B)."""
    return Model(omega, per_tree=0.0, per_edge=1.0, once=float(rate))


EXACT_GRIDS = 30
"""Grids whose edges are counted exactly in any case; those of more only if they soon repeat."""


def ratio(grids: Grids) -> tuple[float, float]:
    """Give edges and the length of time that has them, exact as long as both are below 2**53.

    Where dozens of slides have hardly a divisor in common, the edges of the first stretch of time stand for all.

    >>> ratio(((2, 0), (3, 0)))
    (2.0, 3.0)
    """
    if len(grids) > EXACT_GRIDS and period(grids) > LONGEST_MARKED:
        return density(grids), 1.0
    rate = edge_rate(grids)
    if max(rate.numerator, rate.denominator) < 2**53:
        return float(rate.numerator), float(rate.denominator)
    return float(rate), 1.0


def joined(one: Grids, other: Grids) -> Grids:
    """Give the edges of two trees together."""
    return one if one == other else union((*one, *other))
