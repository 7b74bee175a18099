"""Merging is what plain greedy merging is, whatever parts are charged, and counts few of the pairs that it weighs."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.plan.slicing.merging import Array, Marks, merge, without
from muntin.plan.slicing.slicings import sliced_apart
from muntin.window import Window, tumbling

Bag = frozenset[int]


class Bags:
    """Numbers in bags; two bags that are not counted yet look somewhat cheaper together than they are."""

    def __init__(self, prices: dict[Bag, float], size: int, discount: float) -> None:
        self.prices, self.discount = prices, discount
        self.bags: list[Bag] = [frozenset([number]) for number in range(size)]
        self.charges: Array = np.array([prices[bag] for bag in self.bags])
        self.counted: set[Bag] = set()

    def together(self, part: int) -> Array:
        joined = [self.bags[part] | bag for bag in self.bags]
        return np.array([self.prices[bag] - self.discount * (bag not in self.counted) for bag in joined])

    def settle(self, one: int, other: int) -> Marks:
        joined = self.bags[one] | self.bags[other]
        marks = np.array([joined not in self.counted and place in (one, other) for place in range(len(self.bags))])
        self.counted.add(joined)
        return marks

    def join(self, one: int, other: int) -> None:
        self.bags[one] |= self.bags.pop(other)
        self.charges = without(self.charges, other)
        self.charges[one] = self.prices[self.bags[one]]


def drawn_prices(size: int, seed: int) -> dict[Bag, float]:
    """Draw prices of all bags: about what their numbers cost apart, so that some pairs are worth joining."""
    random = Random(seed)
    bags = [frozenset(some) for many in range(1, size + 1) for some in combinations(range(size), many)]
    return {bag: len(bag) * random.choice([0.9, 1.0, 1.0, 1.1]) for bag in bags}


def plain_greedy(prices: dict[Bag, float], size: int) -> list[Bag]:
    bags = [frozenset([number]) for number in range(size)]

    def saving(pair: tuple[Bag, Bag]) -> float:
        return round(prices[pair[0]] + prices[pair[1]] - prices[pair[0] | pair[1]], 9)

    while len(bags) > 1 and saving(best := max(combinations(bags, 2), key=saving)) > 0:
        one, other = map(bags.index, best)
        bags[one] |= bags.pop(other)
    return bags


@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3, 5.0]))
def test_merging_is_plain_greedy_merging(size: int, seed: int, discount: float) -> None:
    prices = drawn_prices(size, seed)
    bags = Bags(prices, size, discount)
    merge(bags)
    assert bags.bags == plain_greedy(prices, size)


def test_pairs_are_counted_when_it_is_their_turn() -> None:
    prices = {frozenset([0]): 5.0, frozenset([1]): 5.0, frozenset([2]): 5.0, frozenset([0, 1]): 4.0}
    prices |= {frozenset([0, 2]): 9.9, frozenset([1, 2]): 9.9, frozenset([0, 1, 2]): 20.0}
    bags = Bags(prices, 3, discount=0.5)
    merge(bags)
    assert bags.bags == [{0, 1}, {2}]
    assert bags.counted == {frozenset([0, 1])}


@pytest.mark.parametrize(("passes", "parts"), [(0.0, 3), (1.5, 2), (100.0, 1)])
def test_dearer_passes_over_the_input_make_fewer_slicings(passes: float, parts: int) -> None:
    windows = (tumbling(4), tumbling(8), tumbling(9))

    def charge(load: int, edges: float, grids: int) -> float:
        return passes + edges * load

    def load(window: Window) -> int:
        return 1 + window.range

    assert len(sliced_apart(windows, load, charge)) == parts
