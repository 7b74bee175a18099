"""Window sets to plan for: the generators of the papers, and random ones that go beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from muntin.errors import QueryError
from muntin.window import Window

RANGE_SEEDS = (2, 5, 10)
SLIDE_SEEDS = (5, 10, 20)
LARGEST_MULTIPLE = 50
"""The paper's parameters: seeds of tumbling ranges and of hopping slides, and how often a seed may be taken."""


def random_gen(count: int, tumbling: bool, seed: int) -> tuple[Window, ...]:
    """Draw a window set by RandomGen, the paper's Algorithm 6.

    Each window draws its own seed r0 and a range of 2·r0 to 50·r0, or a slide likewise and twice that as range.
    Duplicates are drawn again, so that the set always has as many windows as asked.

    >>> random_gen(3, True, seed=1)
    (Window(36, 36), Window(66, 66), Window(76, 76))
    """
    seeds = RANGE_SEEDS if tumbling else SLIDE_SEEDS
    _check_count(count, len({base * multiple for base in seeds for multiple in range(2, LARGEST_MULTIPLE + 1)}))
    random = Random(seed)
    windows: set[Window] = set()
    while len(windows) < count:
        slide = random.choice(seeds) * random.randint(2, LARGEST_MULTIPLE)
        windows.add(Window(slide if tumbling else 2 * slide, slide))
    return tuple(sorted(windows))


def sequential_gen(count: int, tumbling: bool, base: int) -> tuple[Window, ...]:
    """Make a window set by SequentialGen: twice the seed, three times, and so on.

    >>> sequential_gen(3, False, base=5)
    (Window(20, 10), Window(30, 15), Window(40, 20))
    """
    slides = [base * multiple for multiple in range(2, count + 2)]
    return tuple(Window(slide if tumbling else 2 * slide, slide) for slide in slides)


def sequential_sets(count: int, tumbling: bool) -> Iterator[tuple[Window, ...]]:
    """Yield the sets that SequentialGen can make: one for each seed, three in all."""
    for base in RANGE_SEEDS if tumbling else SLIDE_SEEDS:
        yield sequential_gen(count, tumbling, base)


def rich_gen(count: int, longest_slide: int, most_slides: int, seed: int) -> tuple[Window, ...]:
    """Draw windows with any slide up to the longest and a range of up to so many slides: harder than the paper's sets.

    >>> rich_gen(2, 60, 8, seed=1)
    (Window(18, 9), Window(34, 17))
    """
    _check_count(count, longest_slide * most_slides)
    random = Random(seed)
    windows: set[Window] = set()
    while len(windows) < count:
        slide = random.randint(1, longest_slide)
        windows.add(Window(slide * random.randint(1, most_slides), slide))
    return tuple(sorted(windows))


def any_gen(count: int, longest_slide: int, most_slides: int, seed: int) -> tuple[Window, ...]:
    """Draw windows with any slide, any range of up to so many slides, and any offset.

    >>> any_gen(2, 60, 8, seed=1)
    (Window(17, 9, 4), Window(39, 8, 7))
    """
    _check_count(count, longest_slide)
    random = Random(seed)
    windows: set[Window] = set()
    while len(windows) < count:
        slide = random.randint(1, longest_slide)
        windows.add(Window(random.randint(slide, most_slides * slide), slide, random.randrange(slide)))
    return tuple(sorted(windows))


def fine_gen(count: int, longest_slide: int, longest_range: int, seed: int) -> tuple[Window, ...]:
    """Draw windows with any slide, any range up to the longest however short the slide, and any offset.

    >>> fine_gen(2, 3, 70, seed=5)
    (Window(35, 3, 2), Window(69, 2))
    """
    if longest_range < longest_slide:
        raise QueryError(f"cannot draw ranges of at most {longest_range} for slides of up to {longest_slide}.")
    _check_count(count, longest_range)
    random = Random(seed)
    windows: set[Window] = set()
    while len(windows) < count:
        slide = random.randint(1, longest_slide)
        windows.add(Window(random.randint(slide, longest_range), slide, random.randrange(slide)))
    return tuple(sorted(windows))


def zipf_gen(count: int, longest_slide: int, most_slides: int, skew: float, seed: int) -> tuple[Window, ...]:
    """Draw queries as the incremental-evaluation paper does; unlike the sets above they may repeat.

    Slides are divisors of the longest one, by Zipf's law: all alike without skew, the longest most often with a
    positive skew, the shortest with a negative. The range is any whole number of slides up to the most.

    >>> zipf_gen(3, 1000, 10, skew=0, seed=1)
    (Window(20, 4), Window(500, 250), Window(1600, 200))
    """
    for name, value in (("queries", count), ("a longest slide of", longest_slide), ("slides to a range", most_slides)):
        if value < 1:
            raise QueryError(f"cannot draw windows with {value} as {name}. Use at least 1.")
    random = Random(seed)
    slides = [slide for slide in range(1, longest_slide + 1) if longest_slide % slide == 0]
    ranks = range(1, len(slides) + 1)
    weights = [rank ** -abs(skew) for rank in (reversed(ranks) if skew > 0 else ranks)]
    drawn = random.choices(slides, weights, k=count)
    return tuple(Window(slide * random.randint(1, most_slides), slide) for slide in drawn)


def scope_gen(count: int, longest_slide: int, seed: int, longest_range: int = 60) -> tuple[Window, ...]:
    """Draw windows as the subsumption paper does: any slide, then any range above it; they may repeat.

    They end at multiples of their slides, and there are 545, 990 and 1335 different ones for the paper's classes of
    smooth, medium and abrupt windows, with slides up to 10, 20 and 30.

    >>> scope_gen(2, 10, seed=1)
    (Window(40, 3, 2), Window(19, 2, 1))
    """
    if count < 1 or not 1 <= longest_slide < longest_range:
        raise QueryError(f"cannot draw {count} windows with slides of up to {longest_slide} below {longest_range}.")
    random = Random(seed)
    windows = []
    for _ in range(count):
        slide = random.randint(1, longest_slide)
        length = random.randint(slide + 1, longest_range)
        windows.append(Window(length, slide, -length))
    return tuple(windows)


def _check_count(count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise QueryError(f"cannot draw {count} different windows. Ask for 1 to {most}.")
