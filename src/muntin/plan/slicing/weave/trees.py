"""Trees in the making: what one is charged together with each other tree, all at once in arrays.

Trees with the same edges are of one kind. There are few kinds even among many windows (slides that divide 1000 make
16), and how many edges two trees have together depends on their kinds alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.plan.slicing.edges import edges_of
from muntin.plan.slicing.merging import Array, Marks, Numbers, without
from muntin.plan.slicing.weave.kinds import Kinds
from muntin.plan.slicing.weave.model import Model
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class _View:
    """All trees as one kind sees them: with the edges that they and that kind have together."""

    edges: Array
    """The edges of each kind that is left."""
    length: Array
    place: Numbers
    """The kind of each tree among them."""
    rate: Array
    """The rate of each tree; operations and longest are also by trees."""
    operations: Array
    longest: Array


class Trees:
    """The trees of a plan as parts that merging joins, charged by the papers' model."""

    def __init__(self, model: Model, trees: Sequence[Sequence[Window]]) -> None:
        self.model = model
        self.windows = [list(tree) for tree in trees]
        self._kinds = Kinds()
        self._views: dict[int, _View] = {}
        self._kind = np.array([self._kinds.number(edges_of(tree)) for tree in trees], dtype=np.int64)
        every = [window for tree in self.windows for window in tree]
        self._range = np.array([int(window.range) for window in every], dtype=np.float64)
        slide = np.array([int(window.slide) for window in every], dtype=np.float64)
        self._tree = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
        weights = model.omega.weight(self._range, slide)
        self._weight: Array = np.bincount(self._tree, weights, len(trees)).astype(np.float64)
        self._per_range = float(weights[0])
        self._longest = np.zeros(len(trees))
        np.maximum.at(self._longest, self._tree, self._range)
        if model.omega.by_range:
            self._number_ranges()
        self.charges = np.array([self._own_charge(tree) for tree in range(len(trees))])

    def __len__(self) -> int:
        return len(self.windows)

    def together(self, tree: int) -> Array:
        """Charge one tree together with each tree."""
        omega, kind = self.model.omega, int(self._kind[tree])
        if kind not in self._views:
            self._views[kind] = self._view(kind)
        view = self._views[kind]
        operations: Array = view.operations + (self.model.per_edge + self._weight[tree])
        if omega.by_range:
            operations -= self._per_range * self._common_ranges(tree)
        if omega.look_up is not None:
            partials = self._range[self._tree == tree][None, :] * view.edges[:, None] / view.length[:, None]
            operations += omega.look_up(partials).sum(axis=1)[view.place]
        if omega.longest is not None:
            own = omega.longest(self._longest[tree] * view.edges / view.length)
            operations += np.maximum(view.longest, own[view.place])  # it never falls with the partials
        charges: Array = self.model.per_tree + view.rate * operations
        return charges

    def settle(self, one: int, other: int) -> Marks:
        """Count the edges of two trees if they were only estimated, and mark the trees whose savings that changes."""
        kinds = int(self._kind[one]), int(self._kind[other])
        self._views.clear()
        return np.isin(self._kind, kinds if self._kinds.settle(*kinds) else ())

    def join(self, one: int, other: int) -> None:
        """Put the windows of a later tree to those of an earlier one, and close the gap."""
        self.windows[one] += self.windows.pop(other)
        self._kind[one] = self._kinds.together(int(self._kind[one]), int(self._kind[other]))
        self._weight[one] += self._weight[other]
        self._longest[one] = max(self._longest[one], self._longest[other])
        self._tree[self._tree == other] = one
        self._tree[self._tree > other] -= 1
        self._kind = without(self._kind, other)
        self._weight, self._longest, self.charges = (
            without(array, other) for array in (self._weight, self._longest, self.charges)
        )
        self._views.clear()
        if self.model.omega.by_range:
            self._forget_repeated(one)
        self.charges[one] = self._own_charge(one)

    def _view(self, kind: int) -> _View:
        omega = self.model.omega
        present = np.flatnonzero(np.bincount(self._kind))
        edges, length = (array[present] for array in self._kinds.edges_with(kind, present))
        places = np.zeros(present[-1] + 1, dtype=np.int64)
        places[present] = np.arange(len(present))
        place = places[self._kind]
        operations = longest = self._weight
        if omega.look_up is not None:
            partials = self._range * edges[place][self._tree] / length[place][self._tree]
            operations = operations + np.bincount(self._tree, omega.look_up(partials), len(self))
        if omega.longest is not None:
            longest = omega.longest(self._longest * edges[place] / length[place])
        return _View(edges, length, place, (edges / length)[place], operations, longest)

    def _own_charge(self, tree: int) -> float:
        edges, length = self._kinds.ratio(int(self._kind[tree]))
        omega, mine = self.model.omega, self._tree == tree
        operations = self.model.per_edge + float(self._weight[tree])
        if omega.look_up is not None:
            operations += float(omega.look_up(self._range[mine] * edges / length).sum())
        if omega.longest is not None:
            operations += float(omega.longest(self._longest[tree : tree + 1] * edges / length)[0])
        return self.model.per_tree + edges / length * operations

    def _number_ranges(self) -> None:
        _, self._number = np.unique(self._range, return_inverse=True)
        self._wanted = np.zeros(len(self._range))
        for tree in range(len(self)):
            if len(self.windows[tree]) > 1:
                self._forget_repeated(tree)

    def _common_ranges(self, tree: int) -> Array:
        own = self._number[self._tree == tree]
        self._wanted[own] = 1
        common: Array = np.bincount(self._tree, self._wanted[self._number], len(self)).astype(np.float64)
        self._wanted[own] = 0
        return common

    def _forget_repeated(self, tree: int) -> None:
        """Keep each range of a tree once."""
        own = np.flatnonzero(self._tree == tree)
        _, first = np.unique(self._number[own], return_index=True)
        if len(first) < len(own):
            again = np.delete(own, first)
            self._weight[tree] -= self._per_range * len(again)
            self._tree = np.delete(self._tree, again)
            self._number = np.delete(self._number, again)
