"""Edges: where slices begin, by panes, pairs and Cutty, for one window and for a set; and how many there are.

A window set repeats after its composite slide, the least common multiple of the slides. Edges within it are counted by
marking them one by one, or by inclusion and exclusion (Formula F1 of the incremental-evaluation paper), which needs
neither time nor memory in proportion to the composite slide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

import numpy as np

from muntin.errors import QueryError, UnsupportedError
from muntin.plan.slicing.grids import Grid, grids, union
from muntin.window import Window

Grids = tuple[Grid, ...]

LONGEST_MARKED = 2**31
"""The longest composite slide that is marked, one byte for each unit of time."""


def panes(window: Window) -> Grids:
    """Cut by the greatest common divisor of range and slide.

    >>> panes(Window(10, 4)), panes(Window(14, 8, 3))
    (((2, 0),), ((2, 1),))
    """
    range, slide, offset = window.period
    pane = gcd(range, slide)
    return ((pane, offset % pane),)


def pairs(window: Window) -> Grids:
    """Cut where an instance begins or ends: two slices each slide, or one if the slide divides the range.

    >>> pairs(Window(10, 4)), pairs(Window(8, 4))
    (((4, 0), (4, 2)), ((4, 0),))
    """
    return grids([window])


def cutty(window: Window) -> Grids:
    """Cut where an instance begins, one slice each slide; an instance that ends within a slice reads it half done.

    >>> cutty(Window(10, 4)), cutty(Window(8, 4, 1))
    (((4, 0),), ((4, 1),))
    """
    return ((int(window.slide), int(window.offset)),)


SLICINGS: dict[str, Callable[[Window], Grids]] = {"panes": panes, "pairs": pairs, "cutty": cutty}


def edges_of(windows: Window | Iterable[Window], slicing: str = "pairs") -> Grids:
    """Give the grids on which the edges of all windows lie, none of them inside another.

    >>> edges_of([Window(6, 2), Window(8, 4)]), edges_of([Window(5, 3), Window(6, 2)], "cutty")
    (((2, 0),), ((2, 0), (3, 0)))
    """
    if slicing not in SLICINGS:
        raise QueryError(f"unknown slicing {slicing!r}. Use one of {', '.join(map(repr, SLICINGS))}.")
    several = (windows,) if isinstance(windows, Window) else windows
    return union(grid for window in several for grid in SLICINGS[slicing](window))


def slices_per_instance(window: Window, slicing: str = "pairs") -> int:
    """Count the slices that one instance is put together from.

    >>> [slices_per_instance(Window(10, 3), slicing) for slicing in SLICINGS]
    [10, 7, 4]
    """
    begin = int(window.offset)
    return len(between(edges_of(window, slicing), begin - 1, begin + int(window.range) - 1))


def between(grids: Grids, after: int, until: int) -> tuple[int, ...]:
    """List the edges later than one time and not later than another.

    >>> between(edges_of(Window(10, 3)), 0, 10)
    (1, 3, 4, 6, 7, 9, 10)
    """
    edges = {
        time for slide, residue in grids for time in range(after + 1 + (residue - after - 1) % slide, until + 1, slide)
    }
    return tuple(sorted(edges))


def composite_slide(windows: Iterable[Window]) -> int:
    """Give the least common multiple of the slides, after which the edges repeat.

    >>> composite_slide([Window(6, 2), Window(8, 4), Window(9, 3)])
    12
    """
    return lcm(*(int(window.slide) for window in windows))


def period(grids: Grids) -> int:
    """Give the length of time after which grids repeat.

    >>> period(((4, 0), (6, 1)))
    12
    """
    return lcm(*(slide for slide, _ in grids))


def marked(grids: Grids) -> int:
    """Count the edges until grids repeat by marking each: time and memory grow with the composite slide.

    >>> marked(((4, 0), (6, 0), (9, 0)))
    14
    """
    length = period(grids)
    if length > LONGEST_MARKED:
        raise UnsupportedError(
            f"a composite slide of {length} is too long to mark. Use counted, or slides whose multiple is at most "
            f"{LONGEST_MARKED}."
        )
    marks = np.zeros(length, dtype=np.bool_)
    for slide, residue in grids:
        marks[residue % slide :: slide] = True
    return int(np.count_nonzero(marks))


def counted(grids: Grids) -> int:
    """Count the edges until grids repeat by Formula F1, exactly, residues included.

    >>> counted(((4, 0), (6, 0), (9, 0))), counted(edges_of([Window(5, 3), Window(6, 2)]))
    (14, 5)
    """
    return int(edge_rate(grids) * period(grids))


def edge_rate(grids: Grids) -> Fraction:
    """Give the edges per unit of time, exactly.

    >>> edge_rate(((2, 0), (3, 0))), edge_rate(((4, 0), (6, 1)))  # the second two never meet
    (Fraction(2, 3), Fraction(5, 12))
    """
    return 1 - unmarked(union(grids))


@lru_cache(maxsize=100_000)
def unmarked(grids: Grids) -> Fraction:
    """Give the share of times that lie on no grid, for grids none of which lies inside another.

    What the first grid takes from the times that the others leave free is counted inside the first grid: there the
    others are grids again, with shorter slides, many of which now lie inside one another and drop out. That is the sum
    over all subsets, without most of them. Grids with no common factor meet as often as chance would have it, by the
    Chinese remainder theorem, and are counted apart.

    >>> unmarked(((2, 0), (3, 0))), unmarked(((4, 0), (6, 1)))
    (Fraction(1, 3), Fraction(7, 12))
    """
    if not grids:
        return Fraction(1)
    if grids[0][0] == 1:
        return Fraction(0)
    parts = _unrelated(grids)
    if len(parts) > 1:
        free = Fraction(1)
        for part in parts:
            free *= unmarked(part)
        return free
    *others, first = grids
    rest = tuple(others)
    inside = union(met for other in rest if (met := _inside(first, other)) is not None)
    return unmarked(rest) - unmarked(inside) / first[0]


def _inside(grid: Grid, other: Grid) -> Grid | None:
    """Tell which elements of a grid lie on another one, as a grid of their numbers; None if none does."""
    (slide, residue), (step, rest) = grid, other
    common = gcd(slide, step)
    distance = rest - residue
    if distance % common:
        return None
    period = step // common
    return period, distance // common * pow(slide // common, -1, period) % period


def _unrelated(grids: Grids) -> list[Grids]:
    """Part grids so that slides of different parts have no common factor."""
    parts: list[tuple[int, list[Grid]]] = []
    for grid in grids:
        near = [part for part in parts if gcd(part[0], grid[0]) > 1]
        parts = [part for part in parts if gcd(part[0], grid[0]) == 1]
        members = [member for _, several in near for member in several]
        parts.append((lcm(grid[0], *(slide for slide, _ in near)), [*members, grid]))
    return [tuple(sorted(several)) for _, several in parts]
