"""A changing choice of factor windows, and what every change would save."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable

from muntin.plan.forest.coverage import coverage_graph
from muntin.plan.forest.problem import Problem
from muntin.window import Period

Edges = tuple[list[tuple[int, int]], ...]
Choice = tuple[list[bool], list[int]]


class Selection:
    """Some factor windows out of a pool, with the price of every window under that choice.

    The price of a window is what one instance of it reads from its cheapest parent among the asked windows and the
    chosen factor windows. Windows of the pool that are not chosen have a price too, so that the saving of choosing one
    more, and the loss of giving one up, are sums over its neighbours in the coverage graph.
    """

    def __init__(self, problem: Problem, pool: Iterable[Period]) -> None:
        graph = coverage_graph(problem, pool)
        self.nodes = graph.nodes
        self.parents = _priced(graph.parents, problem.step)
        self.children = _priced(graph.children, problem.step)
        self.instances = [problem.instances(period) for period in self.nodes]
        self.raw = [problem.raw * period[0] for period in self.nodes]
        self.asked = [period in problem.asked for period in self.nodes]
        self.chosen = self.asked.copy()
        self.pool = [index for index, asked in enumerate(self.asked) if not asked]
        self.price = [self._cheapest(index) for index in range(len(self.nodes))]
        self.work = 0
        """Edges looked at so far: a measure of time that is the same on every machine."""

    @property
    def factors(self) -> list[Period]:
        """The chosen factor windows."""
        return [self.nodes[f] for f in self.pool if self.chosen[f]]

    @property
    def cost(self) -> int:
        """What all asked and chosen windows read within the horizon."""
        return sum(
            n * price for n, price, chosen in zip(self.instances, self.price, self.chosen, strict=True) if chosen
        )

    def save(self) -> Choice:
        """Give the present choice, for restore."""
        return self.chosen.copy(), self.price.copy()

    def restore(self, saved: Choice) -> None:
        """Go back to a choice that save gave."""
        self.chosen, self.price = saved[0].copy(), saved[1].copy()

    def choose(self, factor: int) -> list[int]:
        """Take a factor window in; give the windows that now have a lower price."""
        price = self.price
        self.chosen[factor] = True
        cheaper = [(child, cost) for child, cost in self.children[factor] if cost < price[child]]
        for child, cost in cheaper:
            price[child] = cost
        return [child for child, _ in cheaper]

    def choose_all(self, periods: Collection[Period]) -> None:
        """Take in every window of the pool that is among some periods."""
        for factor in self.pool:
            if self.nodes[factor] in periods:
                self.choose(factor)

    def give_up(self, factor: int) -> list[int]:
        """Leave a factor window out; give the windows that now have a higher price."""
        self.chosen[factor] = False
        dearer = []
        for child, cost in self.children[factor]:
            if cost == self.price[child]:
                self.work += len(self.parents[child])
                self.price[child] = self._cheapest(child)
                if self.price[child] != cost:
                    dearer.append(child)
        return dearer

    def saving(self, factor: int) -> int:
        """Tell what choosing one more factor window would save."""
        chosen, price, instances = self.chosen, self.price, self.instances
        self.work += len(self.children[factor])
        saved = -instances[factor] * price[factor]
        for child, cost in self.children[factor]:
            if cost < price[child] and chosen[child]:
                saved += instances[child] * (price[child] - cost)
        return saved

    def loss(self, factor: int) -> int:
        """Tell what giving up a chosen factor window would cost."""
        chosen, price, instances = self.chosen, self.price, self.instances
        self.work += len(self.children[factor])
        lost = -instances[factor] * price[factor]
        for child, cost in self.children[factor]:
            if cost == price[child] and chosen[child]:
                self.work += len(self.parents[child])
                lost += instances[child] * (self._cheapest(child, without=factor) - cost)
        return lost

    def grow(self, banned: Collection[int] = ()) -> None:
        """Choose the factor window that saves most, again and again, until none saves anything."""
        savings = {f: self.saving(f) for f in self.pool if not self.chosen[f] and f not in banned}
        heap = [(-saved, f) for f, saved in savings.items() if saved > 0]
        heapq.heapify(heap)
        while heap:
            saved, factor = heapq.heappop(heap)
            if self.chosen[factor] or savings[factor] != -saved:
                continue
            stale = {parent for parent, _ in self.parents[factor]}
            for child in self.choose(factor):
                stale.add(child)
                if self.chosen[child]:
                    stale.update(parent for parent, _ in self.parents[child])
            for other in stale:
                if other in savings and not self.chosen[other]:
                    savings[other] = self.saving(other)
                    if savings[other] > 0:
                        heapq.heappush(heap, (-savings[other], other))

    def shrink(self) -> None:
        """Give up the factor window that costs most for nothing, again and again, until each one is worth its cost.

        Giving one up can only raise the loss of the others, except of its parents and children; so a loss that proves
        unchanged when it comes first in the queue is the least of all.
        """
        heap = [(self.loss(f), f) for f in self.pool if self.chosen[f]]
        heapq.heapify(heap)
        while heap and heap[0][0] <= 0:
            before, factor = heapq.heappop(heap)
            if not self.chosen[factor]:
                continue
            if (now := self.loss(factor)) != before:
                heapq.heappush(heap, (now, factor))
                continue
            parents = [parent for parent, cost in self.parents[factor] if cost == self.price[factor]]
            for relative in (*parents, *self.give_up(factor)):
                if self.chosen[relative] and not self.asked[relative]:
                    heapq.heappush(heap, (self.loss(relative), relative))

    def settle(self, banned: Collection[int] = ()) -> int:
        """Choose and give up until nothing is gained; give the cost."""
        self.grow(banned)
        self.shrink()
        return self.cost

    def _cheapest(self, node: int, without: int = -1) -> int:
        chosen = self.chosen
        least = self.raw[node]
        for parent, cost in self.parents[node]:
            if cost < least and chosen[parent] and parent != without:
                least = cost
        return least


def _priced(edges: Edges, step: int) -> Edges:
    return edges if step == 1 else tuple([(node, inputs * step) for node, inputs in listed] for listed in edges)
