"""The Cutty paper's figures, Algorithm 1, Table 1 and examples, with the repairs that they need."""

import random
from math import ceil, gcd, log2

import numpy as np
import pytest

from muntin.kernels.cutty.eager import eager
from muntin.kernels.cutty.lazy import lazy
from muntin.kernels.cutty.store import COUNT
from muntin.kernels.cutty.ways import WAYS, Work, evaluate
from muntin.kernels.operators import Sum
from muntin.plan.slicing.edges import slices_per_instance
from muntin.window import Window
from tests.kernels.algorithm_1 import Instances, algorithm_1, count_windows, discretized, in_order, marked, periodic

LETTERS = "abcdefghijkl"
SHAPES = [(10, 3), (5, 3), (20, 10), (40, 7), (9, 6), (5, 2), (14, 8), (4, 1), (6, 6), (64, 8)]


def work_of(way: str, instances: Instances, rows: int, cuts: list[int] | None = None) -> Work:
    """Evaluate sums of the numbers of rows, check them, and give the work."""
    lo, hi = zip(*instances, strict=True)
    results, work = evaluate(way, Sum(), np.arange(rows), np.array(lo), np.array(hi), cuts)
    assert results.tolist() == [sum(range(a, b)) for a, b in instances]
    return work


def pair_cuts(range_: int, slide: int, rows: int) -> list[int]:
    """Cut where an instance begins or ends, those before row 0 included."""
    return sorted({row for k in range(0, rows, slide) for row in (k, k + range_ % slide) if row < rows})


def test_count_windows_end_upon_the_record_after_their_last() -> None:
    for (range_, slide), ends in {(4, 2): [4, 6, 8, 10], (5, 3): [5, 8, 11]}.items():
        disc = count_windows(range_, slide)
        assert [k for k in range(12) if disc(k)[1]] == ends
        assert [k for k in range(12) if disc(k)[0]] == list(range(0, 12, slide))


def test_the_printed_f_disc_ends_windows_that_never_began() -> None:
    """The guard k ≥ range is missing in print."""
    early = {
        shape: [k for k in range(shape[0]) if count_windows(*shape, guarded=False)(k)[1]] for shape in ((4, 2), (5, 3))
    }
    assert early == {(4, 2): [0, 2], (5, 3): [2]}


def test_figure_5_two_functions_mark_one_stream() -> None:
    stream = list(discretized([count_windows(4, 2), count_windows(5, 3)], range(9)))
    marks = {k: (set(one.begins), set(one.ends)) for k, one in enumerate(stream[:9]) if one.begins or one.ends}
    assert marks == {
        0: ({1, 2}, set()),
        2: ({3}, set()),
        3: ({4}, set()),
        4: ({5}, {1}),
        5: (set(), {2}),
        6: ({6, 7}, {3}),
        8: ({8}, {4, 5}),
    }
    assert algorithm_1(discretized([count_windows(4, 2)], "01234")).aggregates == {1: "0123"}


def test_figure_4_windows_from_four_slices() -> None:
    """Records are numbered from 1 in the figure; windows s[1,5], s[1,6] and s[3,8] are read, s[6,…] to s[9,…] begin."""
    records = "123456789"
    instances = [(0, 5), (0, 6), (2, 8), (5, 9), (7, 9), (8, 9)]
    result = algorithm_1(marked(instances, records))
    assert [result.aggregates[number] for number in range(3)] == ["12345", "123456", "345678"]
    assert result.stored[5] == ["12", "345"]  # s6: all of s[1,5]
    assert result.stored[6] == ["12", "345"]  # s7: s[1,6] is these and the record 6
    assert result.stored[8] == ["345", "67", "8"]  # s9: all of s[3,8]
    work = work_of("cutty_lazy", instances, 9)
    assert (work.appends, work.held) == (4, 3)


def test_algorithm_1_over_letters() -> None:
    wanted = ["abcd", "cdef", "efgh", "ghij", "ijkl"]
    assert list(algorithm_1(discretized([count_windows(4, 2)], LETTERS)).aggregates.values()) == wanted


def test_algorithm_1_as_printed_removes_what_it_is_about_to_read() -> None:
    """Only the last window is whole, since after it no window is left and nothing is removed."""
    stream = discretized([count_windows(4, 2, until=12)], LETTERS)
    assert list(algorithm_1(stream, emit_first=False).aggregates.values()) == ["cd", "ef", "gh", "ij", "ijkl"]


def test_the_slice_with_the_begins_own_id_lies_before_it() -> None:
    """Taking it goes well with one query, whose removals hide it, and not with two."""
    one, two = [count_windows(4, 2)], [count_windows(4, 2), count_windows(5, 3)]
    single = algorithm_1(discretized(one, LETTERS), strictly_later=False)
    assert single.aggregates == algorithm_1(discretized(one, LETTERS)).aggregates
    right, wrong = (algorithm_1(discretized(two, LETTERS), strictly_later=strictly) for strictly in (True, False))
    assert [right.aggregates[number] for number in (1, 2, 3, 4, 5)] == ["abcd", "abcde", "cdef", "defgh", "efgh"]
    assert wrong.aggregates[5] == "defgh"  # with the d before it


@pytest.mark.parametrize("way", WAYS)
def test_two_queries_together(way: str) -> None:
    work_of(way, in_order(periodic(4, 2, 40), periodic(5, 3, 40)), 40)


@pytest.mark.parametrize(("range_", "slide"), SHAPES)
def test_slices_held_in_steady_state(range_: int, slide: int) -> None:
    rows = 6 * range_
    instances = periodic(range_, slide, rows)
    for way in ("cutty_lazy", "cutty", "cutty_merged"):
        assert work_of(way, instances, rows).held == range_ // slide
    assert algorithm_1(marked(instances, "x" * rows)).held == range_ // slide


@pytest.mark.parametrize(("range_", "slide"), SHAPES)
def test_table_1_space(range_: int, slide: int) -> None:
    """Slices and the one that grows, for eager stores also the nodes above; pairs are 2⌊r/s⌋ + 1 or r/s."""
    rows, pane = 6 * range_, gcd(range_, slide)
    instances = periodic(range_, slide, rows)
    cutty, pairs = work_of("cutty", instances, rows).held, work_of("pairs", instances, rows).held
    assert cutty + 1 <= ceil(range_ / slide) + 1
    assert 2 * cutty - 1 + 1 <= ceil(2 * range_ / slide) + 1
    assert pairs == slices_per_instance(Window(range_, slide), "pairs")
    assert work_of("pairs", instances, rows, list(range(0, rows, pane))).held == range_ // pane
    assert work_of("reactive_aggregator", instances, rows).held == range_


@pytest.mark.parametrize(("range_", "slide"), SHAPES)
def test_table_1_merges(range_: int, slide: int) -> None:
    """A lazy merge has a combination for all slices but one, an eager one for the nodes on two paths at most."""
    rows = 6 * range_
    instances = periodic(range_, slide, rows)
    cutty = work_of("cutty_lazy", instances, rows, list(range(0, rows, slide)))
    assert cutty.merges == len(instances) * (ceil(range_ / slide) - 1)
    pieces = slices_per_instance(Window(range_, slide), "pairs")
    pairs = work_of("pairs", instances, rows, pair_cuts(range_, slide, rows))
    assert pairs.merges == len(instances) * (pieces - 1)
    for way, slices in (("cutty", ceil(range_ / slide)), ("pairs_eager", pieces), ("reactive_aggregator", range_)):
        assert work_of(way, instances, rows).merges <= len(instances) * min(slices - 1, 2 * ceil(log2(slices)) + 1)


@pytest.mark.parametrize(("way", "slide", "levels"), [("reactive_aggregator", 1, 6), ("cutty", 8, 3), ("cutty", 16, 2)])
def test_table_1_updates(way: str, slide: int, levels: int) -> None:
    """An append renews one node on each level: log r for every record, or log(r/s) for every slide."""
    short, long = (work_of(way, periodic(64, slide, rows), rows) for rows in (640, 1280))
    assert long.updates - short.updates == levels * (long.appends - short.appends)
    assert long.appends - short.appends == 640 // slide


def test_table_1_lazy_stores_combine_nothing_when_slices_come() -> None:
    assert work_of("cutty_lazy", periodic(40, 7, 400), 400).updates == 0
    assert work_of("pairs", periodic(40, 7, 400), 400).updates == 0


@pytest.mark.parametrize(("range_", "slide"), SHAPES)
def test_appends(range_: int, slide: int) -> None:
    """⌈n/s⌉ for Cutty, n/gcd for panes, n for RA; the first cut, at row 0, has nothing to store."""
    rows, pane = 10 * range_ + 1, gcd(range_, slide)
    instances = in_order(periodic(range_, slide, rows, cut_off=True))
    appends = {way: work_of(way, instances, rows).appends + 1 for way in ("cutty_lazy", "cutty", "reactive_aggregator")}
    assert appends == {"cutty_lazy": ceil(rows / slide), "cutty": ceil(rows / slide), "reactive_aggregator": rows}
    assert work_of("cutty", instances, rows, list(range(0, rows, pane))).appends + 1 == ceil(rows / pane)
    edges = pair_cuts(range_, slide, rows)
    pairs = work_of("pairs", instances, rows, edges).appends + 1
    assert pairs == len(edges)
    assert abs(pairs - (2 if range_ % slide else 1) * rows / slide) <= 2


@pytest.mark.parametrize("empty", [lazy, eager])
def test_capacity_doubles_and_halves(empty: object) -> None:
    assert callable(empty)
    store, seen = empty(np.zeros(1, np.int64)), []
    for number in range(1, 6):
        store = store.append(Sum(), number, number)
        seen.append((int(store.state[COUNT]), len(store.ids)))
    assert store.merge(Sum(), 0, 9) == 15
    assert store.merge(Sum(), 1, 4) == 2 + 3 + 4
    for number in range(1, 5):
        store = store.remove_up_to(Sum(), number)
        seen.append((int(store.state[COUNT]), len(store.ids)))
    assert seen == [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (4, 8), (3, 8), (2, 4), (1, 2)]
    assert store.merge(Sum(), 4, 9) == 5


def test_a_long_window_keeps_short_slices_unless_cuts_are_forgotten() -> None:
    """With two active windows, Cutty as printed holds 499 slices."""
    instances = in_order([(0, 1000)], periodic(2, 2, 1000))
    assert work_of("cutty_lazy", instances, 1000).held == work_of("cutty", instances, 1000).held == 499
    merged = work_of("cutty_merged", instances, 1000)
    assert merged.held == 2
    assert merged.updates == 498
    assert merged.operations == 1000 - 500 + 498 + 1


def test_queries_over_time_and_distance_share_slices() -> None:
    """A vehicle reports time and mileage: 10 s every 6 s, and 10 km every 5 km."""
    for seed in range(20):
        r = random.Random(seed)
        seconds = np.cumsum([r.choice([0, 1, 1, 2, 9]) for _ in range(200)])
        metres = np.cumsum([r.choice([0, 300, 900, 2500, 12_000]) for _ in range(200)])
        queries = []
        for measure, slide, range_ in ((seconds, 6, 10), (metres, 5000, 10_000)):
            begins = np.arange(0, measure[-1] + 1, slide)
            lo, hi = np.searchsorted(measure, begins), np.searchsorted(measure, begins + range_)
            assert (np.diff(lo) >= 0).all()
            assert (np.diff(hi) >= 0).all()
            queries.append([(int(a), int(b)) for a, b in zip(lo, hi, strict=True)])
        instances = in_order(*queries)
        cuts = len({lo for lo, hi in instances if lo < hi})
        assert {work_of(way, instances, 200).appends for way in ("cutty_lazy", "cutty")} == {cuts - 1}
        work_of("cutty_merged", instances, 200)


def stock_windows(prices: list[float]) -> Instances:
    """Report 10 minutes every 5 while the price is above 10, else 5 every 2, fixed when a window begins."""
    instances, begin = [], 0
    while begin < len(prices):
        range_, slide = (10, 5) if prices[begin] > 10 else (5, 2)
        instances.append((begin, begin + range_))
        begin += slide
    return [(begin, end) for begin, end in instances if end <= len(prices)]


def test_windows_that_follow_a_price() -> None:
    instances = stock_windows([11.0] * 25 + [10.0] * 15)
    fast = [(27, 32), (29, 34), (31, 36), (33, 38), (35, 40)]
    assert instances == [(0, 10), (5, 15), (10, 20), (15, 25), (20, 30), (25, 30), *fast]
    for way in WAYS:
        work_of(way, instances, 40)
    assert work_of("cutty", instances, 40).held <= 4


def punctuated(flags: list[int]) -> Instances:
    """A record with a flag begins a window and ends the one before."""
    begins = [row for row, flag in enumerate(flags) if flag]
    return list(zip(begins, [*begins[1:], len(flags)], strict=True))


def sessions(times: list[int], gap: int) -> Instances:
    """A record that comes a gap or more after the one before begins a session."""
    return punctuated([int(row == 0 or times[row] - times[row - 1] >= gap) for row in range(len(times))])


def test_punctuations_and_sessions_are_sliced() -> None:
    times = [0, 1, 2, 6, 7, 15, 16, 17, 30]
    assert punctuated([1, 0, 0, 1, 0]) == [(0, 3), (3, 5)]
    assert sessions(times, 5) == [(0, 5), (5, 8), (8, 9)]
    assert sessions(times, 4) == [(0, 3), (3, 5), (5, 8), (8, 9)]
    work_of("cutty", punctuated([1, 0, 0, 1, 0]), 5)
    both = in_order(sessions(times, 5), sessions(times, 4))
    assert {work_of(way, both, 9).held for way in ("cutty", "cutty_lazy", "cutty_merged")} == {2}


def test_landmarks_and_snapshots_are_sliced() -> None:
    """Windows that begin together and end one after the other need no slice but the one that grows."""
    landmark = [(3, end) for end in range(5, 30, 4)]
    assert work_of("cutty", landmark, 30).appends == 0
    assert work_of("cutty", landmark, 30).merges == 0
