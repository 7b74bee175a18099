"""What a plan costs: Equation 1 of the incremental-evaluation paper, C = mλ + ΣE·Ω over m trees, and TriWeave's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from muntin.plan.slicing.edges import LONGEST_MARKED, Grids, edge_rate, edges_of, period
from muntin.plan.slicing.grids import density, union
from muntin.plan.slicing.weave.technique import Technique
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class Model:
    """A technique, and what a tree costs besides it."""

    technique: Technique
    per_tree: float
    """Inputs of a tree per unit of time."""
    per_edge: float = 0.0
    """Operations at each edge beside Ω."""
    once: float = 0.0
    """What is paid once, however many trees."""

    @property
    def groups_by_edges(self) -> bool:
        """Whether joining windows of equal edges saves more than any other merge, so that greedy does it first."""
        return self.technique.is_monotone and self.per_edge == 0

    def cost(self, trees: Iterable[Iterable[Window]]) -> float:
        """Price a plan: operations per unit of time."""
        return self.once + sum(map(self.tree, trees))

    def tree(self, windows: Iterable[Window]) -> float:
        """Price one tree, what is paid once left out."""
        windows = tuple(windows)
        ranges = np.array([int(window.range) for window in windows], dtype=np.float64)
        slides = np.array([int(window.slide) for window in windows], dtype=np.float64)
        edges, length = ratio(edges_of(windows))
        omega = self.technique.omega(ranges, slides, edges, length)
        return self.per_tree + edges / length * (self.per_edge + omega)


def weave_share_model(technique: Technique, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let every tree aggregate the input by itself (Equation 1)."""
    return Model(technique, per_tree=float(rate))


def tri_weave_model(technique: Technique, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let one aggregator cut the input by all edges, and every tree read its partials (variant A)."""
    edges, length = ratio(edges_of(windows))
    return Model(technique, per_tree=edges / length, once=float(rate))


def tri_weave_b_model(technique: Technique, windows: Iterable[Window], rate: Fraction) -> Model:
    """Let one aggregator hand each tree the partials between the tree's own edges (variant B)."""
    return Model(technique, per_tree=0.0, per_edge=1.0, once=float(rate))


EXACT_GRIDS = 30
"""Grids whose edges are counted exactly in any case; those of more only if they soon repeat."""


def ratio(found: Grids) -> tuple[float, float]:
    """Give edges and the length of time that has them, exact as long as both are below 2**53.

    Where dozens of slides have hardly a divisor in common, the edges of the first stretch of time stand for all.

    >>> ratio(((2, 0), (3, 0)))
    (2.0, 3.0)
    """
    if len(found) > EXACT_GRIDS and period(found) > LONGEST_MARKED:
        return density(found), 1.0
    rate = edge_rate(found)
    if max(rate.numerator, rate.denominator) < 2**53:
        return float(rate.numerator), float(rate.denominator)
    return float(rate), 1.0


def joined(one: Grids, other: Grids) -> Grids:
    """Give the edges of two trees together."""
    return one if one == other else union((*one, *other))
