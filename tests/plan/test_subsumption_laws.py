"""What holds for every set of windows in subsumption groups."""

from functools import cache
from itertools import combinations, groupby, pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.plan.subsumption import METHODS, Subsumption, ending, is_subsumed
from muntin.plan.subsumption.exact import above
from muntin.plan.subsumption.groups import in_order
from muntin.window import Window
from tests.strategies import window_sets


def rich(slides: list[int], most: int) -> st.SearchStrategy[list[Window]]:
    """Draw windows of few slides, among which there is much to subsume."""
    drawn = st.builds(
        lambda slide, longer, offset: Window(slide + longer, slide, offset - slide - longer),
        st.sampled_from(slides),
        st.integers(0, 12),
        st.sampled_from([0, 0, 0, 1]),
    )
    return st.lists(drawn, min_size=1, max_size=most, unique=True)


POOLS = st.one_of(window_sets(most=7, longest=12, offsets=True), rich([1, 2, 3, 4, 6, 12], 7))
MANY = st.one_of(window_sets(most=30, longest=40, offsets=True), rich([2, 3, 4, 6, 8, 12, 24], 40))


def check(grouping: Subsumption, windows: list[Window]) -> None:
    """Check by hand that groups are chains with riders, and have all windows once."""
    assert sorted(window for group in grouping.groups for window in group.windows) == sorted(windows)
    assert grouping.windows == tuple(in_order(windows))
    for group in grouping.groups:
        for low, high in pairwise(group.chain):
            assert low.range < high.range
            assert high.slide % low.slide == 0
            assert {end % low.slide for _, end in high.instances(0, 200)} <= {low.edges[1][1]}
        for level in group.levels:
            held = set(level.window.instances(0, 200))
            assert all(set(rider.instances(0, 200)) <= held for rider in level.riders)
            assert list(level.riders) == in_order(level.riders)


def fewest(windows: list[Window]) -> tuple[int, int]:
    """Try every partition: give the fewest groups, and the least time that so few can keep."""

    @cache
    def kept(part: int) -> int | None:
        """Give what one group of some windows keeps; None if they are no group."""
        chosen = in_order(window for place, window in enumerate(windows) if part >> place & 1)
        chain = []
        for _, same in groupby(chosen, key=lambda window: window.range):
            host, *riders = same
            if not all(is_subsumed(host, rider) for rider in riders):
                return None
            chain.append(host)
        if not all(is_subsumed(low, high) for low, high in pairwise(chain)):
            return None
        return int(chain[-1].range + chain[-1].slide)

    @cache
    def best(left: int) -> tuple[int, int]:
        if not left:
            return 0, 0
        first, options = left & -left, []
        others = part = left ^ first
        while True:
            if (cost := kept(part | first)) is not None:
                groups, total = best(others ^ part)
                options.append((groups + 1, total + cost))
            if not part:
                return min(options)
            part = (part - 1) & others

    return best((1 << len(windows)) - 1)


@given(MANY)
def test_groups_are_chains_with_riders(windows: list[Window]) -> None:
    groupings = [mt.subsume(windows, method) for method in METHODS]
    for grouping in groupings:
        check(grouping, windows)
    assert len(groupings[0].groups) <= len(groupings[1].groups)


@settings(max_examples=150)
@given(POOLS)
def test_exact_groups_are_the_fewest_and_keep_the_least_time(windows: list[Window]) -> None:
    grouping = mt.subsume(windows)
    assert (len(grouping.groups), grouping.kept) == fewest(windows)


@given(POOLS, st.randoms(use_true_random=False))
def test_the_order_of_windows_does_not_matter(windows: list[Window], random: object) -> None:
    shuffled = list(windows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert all(mt.subsume(shuffled, method) == mt.subsume(windows, method) for method in METHODS)


@given(MANY, MANY, st.sampled_from(list(METHODS)), st.randoms(use_true_random=False))
def test_windows_come_and_go(before: list[Window], coming: list[Window], method: str, random: object) -> None:
    grouping, windows = mt.subsume(before, method), list(before)  # type: ignore[arg-type]
    for window in coming:
        if window not in windows:
            wider = grouping.embed(window)
            windows.append(window)
            check(wider, windows)
            assert len(wider.groups) - len(grouping.groups) in (0, 1)
            assert len(set(wider.groups) - set(grouping.groups)) == 1  # all other groups stay as they are
            grouping = wider
    random.shuffle(windows)  # type: ignore[attr-defined]
    while windows:
        grouping = grouping.revoke(windows.pop())
        check(grouping, windows)
    assert grouping.groups == ()


@given(MANY)
def test_windows_above_are_those_that_subsume(windows: list[Window]) -> None:
    ordered = in_order(windows)
    places = range(len(ordered))
    bits = above(ordered)
    for low, high in product(places, places):
        wanted = ordered[low].range < ordered[high].range and is_subsumed(ordered[low], ordered[high])
        assert bool(bits[low] >> high & 1) == wanted


@given(POOLS)
def test_subsumption_is_a_partial_order(windows: list[Window]) -> None:
    assert all(is_subsumed(window, window) for window in windows)
    for one, other in combinations(windows, 2):
        assert not (is_subsumed(one, other) and is_subsumed(other, one))
    for low, middle, high in product(windows, repeat=3):
        if is_subsumed(low, middle) and is_subsumed(middle, high):
            assert is_subsumed(low, high)


@given(MANY, st.integers(-100, 100))
def test_cores_and_buffers_tile_the_longest_range(windows: list[Window], time: int) -> None:
    for group in mt.subsume(windows).groups:
        stairs = group.stairs(time)
        stretches = [stretch for stair in reversed(stairs) for stretch in (stair.core, stair.buffer)]
        assert all(one.end == other.start for one, other in pairwise(stretches))
        start, end = next(reversed(list(group.longest.instances(time - group.kept, time))))
        assert (stretches[0].start, stretches[-1].end) == (start, time)
        assert end <= time < end + group.longest.slide
        for level, stair in enumerate(stairs):
            assert stair.core.length == group.cores[level] > 0
            assert 0 <= stair.buffer.length <= group.buffers[level]
            assert stair.core.length % group.granule == 0
            assert level == 0 or stair.buffer.length % group.granule == 0
            assert stair.core.length % group.granules[level] == 0
            if (time - stair.window.edges[1][1]) % stair.window.slide == 0:  # the window is due: it has no waiting rows
                assert all(not below.buffer.length for below in stairs[: level + 1])
                assert stairs[level].core.start == time - stair.window.range


def test_a_chain_longer_than_the_stack_is_shown() -> None:
    grouping = mt.subsume([ending(length, 1) for length in range(1, 1500)])
    assert len(grouping.groups[0].levels) == 1499
    assert grouping.explain().count("⟨") == 1499
    assert grouping.to_html().count("<rect") == 2 + 1499
    assert grouping.to_json()
    assert grouping.to_mermaid()
