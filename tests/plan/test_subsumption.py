"""Subsumption groups: the paper's examples, and where its algorithms are repaired."""

from math import gcd
from random import Random

import pytest

import muntin as mt
from muntin.choices import SubsumeMethod
from muntin.plan.subsumption import METHODS, Group, Level, Subsumption, ending, is_subsumed, left_open, stairs
from muntin.plan.subsumption.live import embed, revoke
from muntin.window import Window
from muntin_bench.workload import scope_gen

Scope = tuple[int, int]

EACH = pytest.mark.parametrize("method", METHODS)

D, U, V, Z = (6, 2), (6, 4), (24, 8), (32, 4)
R, P, Y, K = (9, 3), (18, 3), (27, 6), (21, 3)
B, H, F, E = (10, 5), (15, 5), (20, 5), (40, 10)
FIGURE_7 = [D, U, V, Z, R, P, Y, B, H, F, E]


def windows(*scopes: Scope) -> list[Window]:
    return [ending(*scope) for scope in scopes]


def scopes(grouping: Subsumption | tuple[Group, ...]) -> list[list[list[Scope]]]:
    """Give, by group and level, the window and its riders as pairs."""
    groups = grouping.groups if isinstance(grouping, Subsumption) else grouping
    return [[[(w.range, w.slide) for w in level.windows] for level in group.levels] for group in groups]


def group_of(*levels: Scope | list[Scope]) -> Group:
    several = [windows(*(level if isinstance(level, list) else [level])) for level in levels]
    return Group(tuple(Level(window, tuple(riders)) for window, *riders in several))


@pytest.mark.parametrize(
    ("low", "high", "holds"), [((8, 2), V, True), (V, Z, False), (D, U, True), (U, D, False), (V, (8, 2), False)]
)
def test_definition_1(low: Scope, high: Scope, holds: bool) -> None:
    assert is_subsumed(ending(*low), ending(*high)) == holds


def test_a_rider_is_given_every_second_result() -> None:
    (group,) = mt.subsume(windows(D, U)).groups
    assert group.levels[0].quotient(ending(*U)) == 2


@EACH
def test_phases_must_agree(method: SubsumeMethod) -> None:
    """Slides 4 from 1 on and 2 from 0 on never coincide (E3.8): two groups, not an error."""
    apart = mt.subsume([Window(6, 2), Window(12, 4, offset=1)], method)
    assert [group.chain for group in apart.groups] == [(Window(6, 2),), (Window(12, 4, 1),)]
    together = mt.subsume([Window(6, 2, offset=1), Window(12, 4, offset=1)], method)
    assert len(together.groups) == 1
    assert len(mt.subsume([Window(8, 3), Window(10, 6)], method).groups) == 2  # they end at 2 and at 4
    assert len(mt.subsume(windows((8, 3), (10, 6)), method).groups) == 1


@EACH
def test_figure_7(method: SubsumeMethod) -> None:
    assert scopes(mt.subsume(windows((8, 2), (8, 4), V, Z), method)) == [[[(8, 2), (8, 4)], [V]], [[Z]]]


def test_a_pool_as_the_text_has_it() -> None:
    pool = mt.subsume(windows(*FIGURE_7), "heuristic")
    assert scopes(pool) == [[[D, U], [V]], [[R], [P], [Y]], [[B], [H], [F], [E]], [[Z]]]
    assert scopes(pool.embed(ending(*K)))[1] == [[R], [P], [K], [Y]]
    left = pool.revoke(ending(*D))
    assert scopes(left)[0] == [[U], [V]]
    assert (pool.groups[0].slide, left.groups[0].slide) == (2, 4)
    assert len(mt.subsume(windows(*FIGURE_7)).groups) == 4


@EACH
def test_four_windows_in_one_group(method: SubsumeMethod) -> None:
    grouping = mt.subsume(windows((6, 2), (12, 4), (12, 2), (20, 4)), method)
    assert scopes(grouping) == [[[(6, 2)], [(12, 2), (12, 4)], [(20, 4)]]]
    assert grouping.groups[0].levels[1].quotient(ending(12, 4)) == 2


def test_stairwise_state() -> None:
    chain = windows((6, 2), (12, 4), (24, 8))
    aligned, between = stairs(chain, 24), stairs(chain, 22)
    assert [tuple(stair.core) for stair in aligned] == [(18, 24), (12, 18), (0, 12)]
    assert [stair.buffer.length for stair in aligned] == [0, 0, 0]
    assert [tuple(stair.core) for stair in between] == [(16, 22), (8, 14), (-8, 4)]
    assert [tuple(stair.buffer) for stair in between] == [(22, 22), (14, 16), (4, 8)]
    assert [stair.buffer.length for stair in stairs(chain, 23)] == [1, 2, 4]
    tandem = windows((10, 5), (15, 5), (20, 5), (40, 10))  # equal slides need no buffer between them
    assert all(not stair.buffer.length for time in range(50) for stair in stairs(tandem, time)[1:3])


def test_sums_are_read_off_the_stairs() -> None:
    """Events 1 to 40, each of its time as value; the paper's states are open at the left (A3.1, E3.12)."""
    wanted: dict[Scope, dict[int, int]] = {
        (6, 2): {12: 57, 16: 81, 20: 105, 22: 117, 24: 129},
        (12, 4): {12: 78, 16: 126, 20: 174, 24: 222},
        (12, 2): {12: 78, 16: 126, 20: 174, 22: 198, 24: 222},
        (20, 4): {20: 210, 24: 290},
    }
    (group,) = mt.subsume([left_open(window) for window in windows(*wanted)]).groups
    for scope, sums in wanted.items():
        level = next(at for at, one in enumerate(group.levels) if left_open(ending(*scope)) in one.windows)
        for time, total in sums.items():
            state = group.stairs(time + 1)[: level + 1]
            assert all(not stair.buffer.length for stair in state)
            assert sum(t for stair in state for t in range(*stair.core) if 1 <= t <= 40) == total
            assert sum(stair.core.length for stair in state) == scope[0]


def test_partials_as_long_as_the_slide_do_not_tile_a_level() -> None:
    """⟨12,4⟩ over ⟨6,2⟩ has a core of 6 (E3.7), even where both ranges are multiples of their slides."""
    group = group_of((6, 2), (12, 4))
    assert (group.cores, group.granules, group.granule) == ((6, 6), (2, 2), 2)
    random = Random(0)
    chains = []
    for _ in range(4000):
        slides = [random.randint(1, 10)]
        slides.append(slides[0] * random.randint(1, 5))
        ranges = [slide * random.randint(1, 10) for slide in slides]
        if ranges[0] < ranges[1]:
            chains.append(group_of(*zip(ranges, slides, strict=True)))
    untiled = [group for group in chains if group.cores[1] % group.levels[1].window.slide]
    assert 0.3 < len(untiled) / len(chains) < 0.7
    assert all(
        core % granule == 0 for group in chains for core, granule in zip(group.cores, group.granules, strict=True)
    )


def test_the_window_that_is_embedded_is_stored() -> None:
    """E3.1: the paper inserts the neighbour that is there already."""
    assert scopes(embed((group_of((10, 2), (40, 8)),), ending(20, 4))) == [[[(10, 2)], [(20, 4)], [(40, 8)]]]


def test_both_neighbours_are_checked() -> None:
    """E3.2: ⟨20,4⟩ is not subsumed by ⟨30,2⟩."""
    chain = [[(10, 2)], [(20, 4)], [(40, 8)]]
    assert scopes(embed((group_of((10, 2), (20, 4), (40, 8)),), ending(30, 2))) == [chain, [[(30, 2)]]]


def test_equal_ranges_ride_though_a_wider_window_is_there() -> None:
    """E3.4."""
    assert scopes(embed((group_of((10, 2), (20, 4)),), ending(10, 4))) == [[[(10, 2), (10, 4)], [(20, 4)]]]


def test_a_finer_window_of_equal_range_takes_the_level() -> None:
    before = group_of((6, 2), [(10, 4), (10, 8)], (20, 8))
    assert scopes(embed((before,), ending(10, 2))) == [[[(6, 2)], [(10, 2), (10, 4), (10, 8)], [(20, 8)]]]
    assert scopes(embed((before,), ending(10, 1))) == [scopes((before,))[0], [[(10, 1)]]]


def test_a_new_first_window_lowers_the_base_slide() -> None:
    """E3.5."""
    (group,) = embed((group_of((10, 4), (20, 4)),), ending(5, 2))
    assert (group.slide, group.chain[0].range) == (2, 5)
    assert scopes(embed((group,), ending(7, 2)))[0][:3] == [[(5, 2)], [(7, 2)], [(10, 4)]]


def test_riders_that_lose_their_window_are_embedded_anew() -> None:
    """E3.6: neither rider can be a level below ⟨12,2⟩."""
    before = group_of([(8, 2), (8, 4), (8, 6)], (12, 2))
    assert scopes(revoke((before,), ending(8, 2))) == [[[(12, 2)]], [[(8, 4)]], [[(8, 6)]]]
    others = (before, group_of((8, 3)))
    assert scopes(revoke(others, ending(8, 2))) == [[[(12, 2)]], [[(8, 3), (8, 6)]], [[(8, 4)]]]


def test_a_rider_takes_over_an_empty_group_or_leaves_it() -> None:
    alone = (group_of([(8, 2), (8, 4), (8, 8)]),)
    assert scopes(revoke(alone, ending(8, 2))) == [[[(8, 4), (8, 8)]]]
    assert scopes(revoke((*alone, group_of((12, 8))), ending(8, 2))) == [[[(8, 4), (8, 8)], [(12, 8)]]]
    assert scopes(revoke(alone, ending(8, 8))) == [[[(8, 2), (8, 4)]]]


@pytest.mark.parametrize(
    "pool",
    [[(8, 3), (9, 2), (10, 6), (18, 6), (30, 3)], [(6, 1), (10, 4), (16, 2), (23, 8), (26, 6)]],
)
def test_the_heuristic_is_not_minimal(pool: list[Scope]) -> None:
    """E3.9."""
    assert len(mt.subsume(windows(*pool), "heuristic").groups) == 3
    assert len(mt.subsume(windows(*pool)).groups) == 2


def test_riders_need_not_form_a_chain() -> None:
    """E3.10: ⟨8,4⟩ and ⟨8,6⟩ ride on ⟨8,2⟩, and neither subsumes the other."""
    assert scopes(mt.subsume(windows((8, 2), (8, 4), (8, 6)))) == [[[(8, 2), (8, 4), (8, 6)]]]
    assert not is_subsumed(ending(8, 4), ending(8, 6))


def test_workloads_have_few_different_windows() -> None:
    """A3.10, E3.11: 545, 990 and 1335 different ones; in few the range is a multiple of the slide (E3.7)."""
    for longest, most, percent in ((10, 545, 30), (20, 990, 19), (30, 1335, 15)):
        pool = scope_gen(20_000, longest, seed=0)
        different = set(pool)
        assert len(different) == most
        assert round(100 * sum(w.range % w.slide == 0 for w in different) / most) == percent
        assert all(1 <= w.slide <= longest and w.slide < w.range <= 60 for w in pool)
        assert all(w.edges[1] == (w.slide, 0) for w in pool)
    with pytest.raises(mt.QueryError, match="cannot draw"):
        scope_gen(1, 60, seed=0)


LISTED = {
    # longest slide, windows: least and most groups of the draws that are listed, heuristic then exact
    (10, 100): ((10, 11), (9, 10)),
    (10, 1000): ((10, 10), (5, 8)),
    (10, 2000): ((5, 8), (5, 5)),
    (20, 1000): ((21, 22), (16, 18)),
    (20, 5000): ((5, 9), (5, 9)),
    (30, 1000): ((33, 34), (27, 29)),
    (30, 2000): ((30, 33), (16, 21)),
}


@pytest.mark.parametrize(("longest", "count"), LISTED)
def test_numbers_of_groups_are_near_the_listed_ones(longest: int, count: int) -> None:
    """A3.11, with other draws: within a quarter, or three groups."""
    for seed in range(2):
        pool = scope_gen(count, longest, seed)
        counts = [len(mt.subsume(pool, method).groups) for method in ("heuristic", "exact")]
        assert counts[0] >= counts[1]
        for groups, (least, most) in zip(counts, LISTED[longest, count], strict=True):
            assert least - max(3, least / 4) <= groups <= most + max(3, most / 4)


@EACH
def test_smooth_windows_saturate_to_one_group(method: SubsumeMethod) -> None:
    for count, seed in ((5000, 0), (5000, 1), (10_000, 0)):
        (group,) = mt.subsume(scope_gen(count, 10, seed), method).groups
        assert group.slide == 1
        assert group.longest.range == 60


def test_of_the_fewest_groups_those_that_keep_least() -> None:
    """Two groups are needed: the one of a single window keeps less if that is ⟨9,3⟩."""
    grouping = mt.subsume(windows((9, 3), (10, 4), (12, 12), (48, 12)))
    assert grouping.kept == min(
        sum(chain[-1][0] + chain[-1][1] for chain in chains)
        for chains in ([[(9, 3), (12, 12), (48, 12)], [(10, 4)]], [[(9, 3)], [(10, 4), (12, 12), (48, 12)]])
    )


def test_windows_as_other_calls_take_them() -> None:
    text = mt.subsume("1 hour every 5 minutes, 1 day every 1 hour, 1 hour every 10 minutes")
    assert text == mt.subsume([mt.hopping("1 day", "1 hour"), "1h/10m", mt.hopping("1 hour", "5 minutes"), "1 h/5 min"])
    assert text.embed("2 hours every 10 min").revoke("2h/10m").groups == text.groups
    assert text.group("1h/10m").slide == gcd(300_000_000, 3_600_000_000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mt.subsume([]), "no windows were given"),
        (lambda: mt.subsume([mt.session_window("1 hour")]), "'session 1h' is on no grid of time"),
        (lambda: mt.subsume([mt.tumbling(mt.rows(5))]), "is on no grid of time"),
        (lambda: mt.subsume([Window(5)], "best"), "unknown method 'best'. Use 'exact' or 'heuristic'."),  # type: ignore[arg-type]
        (lambda: mt.subsume([Window(5), Window("5 s")]), "no unit of time"),
        (lambda: mt.subsume([Window(5)]).embed(Window(5, id="again")), "⟨5,5⟩ is in a group already. Embed each"),
        (lambda: mt.subsume([Window(5)]).embed("5 s"), "⟨5s,5s⟩ has a unit of time, and the others have none."),
        (lambda: mt.subsume("5 s").embed(Window(5)), "⟨5,5⟩ has no unit of time, and the others have one."),
        (lambda: mt.subsume("5 s").embed("5 s, 6 s"), "'5 s, 6 s' is more than one window"),
        (lambda: mt.subsume("5 s").embed(mt.snapshot()), "is on no grid of time"),
        (lambda: mt.subsume([Window(n) for n in range(1, 9)]).revoke(Window(9)), r"⟨9,9⟩ is in no group.*⟨6,6⟩, …\."),
        (lambda: mt.subsume("5 s").revoke("5 s").revoke("5 s"), "is in no group. The windows are none."),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(mt.QueryError, match=message):
        call()


def test_the_last_window_may_leave() -> None:
    empty = mt.subsume("5 s").revoke("5 s")
    assert (empty.groups, empty.windows, empty.kept, empty.changes) == ((), (), 0, 1)
    assert empty.explain().startswith("exact grouping: 0 windows in 0 groups, after 1 change\n")
    assert scopes(empty.embed(Window(4, 2))) == [[[(4, 2)]]]


def test_thousands_of_different_windows() -> None:
    random = Random(5)
    pool = {ending(random.randint(1000, 10**6), random.randint(1, 1000)) for _ in range(3000)}
    grouping = mt.subsume(pool)
    assert len(grouping.windows) == len(pool)
    assert len(grouping.groups) <= len(mt.subsume(pool, "heuristic").groups)
