"""Technique × operator × shape of ranges × shape of values against plain recomputation, and the papers' counts."""

import math
import random
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

from muntin.errors import QueryError, UnsupportedError
from muntin.kernels.catalogue import KERNELS, MANY, answer_many, offers, reduce_ranges, slide, slide_many
from muntin.kernels.flatfat import fitting
from muntin.kernels.operators import Compose, Counting, FirstMin, Max, Min, Moments, Sum, Timed, Wide
from muntin.kernels.protocol import Asked, Longs
from muntin.techniques import TECHNIQUES, Need, cheapest, technique

ROWS = 90
VALUES: dict[str, Callable[[random.Random], list[float]]] = {
    "growing": lambda r: [float(i) for i in range(ROWS)],
    "shrinking": lambda r: [float(-i) for i in range(ROWS)],
    "sawtooth": lambda r: [float(i % 7) for i in range(ROWS)],
    "random": lambda r: [float(r.randint(-99, 99)) for _ in range(ROWS)],
    "equal": lambda r: [4.0] * ROWS,
    "nan": lambda r: [r.choice([math.nan, 1.0, -2.0, math.inf]) for _ in range(ROWS)],
}
NUMBERS = [Sum(), Min(), Max(), FirstMin()]


def growing(r: random.Random) -> list[tuple[int, int]]:
    return [(0, k + 1) for k in range(ROWS)]


def shrinking(r: random.Random) -> list[tuple[int, int]]:
    return [(k, ROWS) for k in range(ROWS + 1)]


def sliding(r: random.Random) -> list[tuple[int, int]]:
    return [(max(0, k - 12), k + 1) for k in range(ROWS)]


def hopping(r: random.Random) -> list[tuple[int, int]]:
    return [(k, min(ROWS, k + 17)) for k in range(0, ROWS, 5)]


def apart(r: random.Random) -> list[tuple[int, int]]:
    return [(k, k + 3) for k in range(0, ROWS - 3, 11)]


def sawtooth(r: random.Random) -> list[tuple[int, int]]:
    """Grow by one, and now and then lose all but one or two."""
    pairs, first = [], 0
    for k in range(ROWS):
        first = max(first, k - k % 20 - 1)
        pairs.append((first, k + 1))
    return pairs


def anyhow(r: random.Random) -> list[tuple[int, int]]:
    ends = sorted(r.choices(range(ROWS + 1), k=2 * ROWS))
    pairs, first = [], 0
    for k in range(0, 2 * ROWS, 2):
        last = ends[k]
        first = max(first, min(last, first + r.choice([0, 0, 1, 1, 2, 9])))
        pairs.append((first, max(first, last)))
    return pairs


RANGES = [growing, shrinking, sliding, hopping, apart, sawtooth, anyhow]


def ends(pairs: list[tuple[int, int]]) -> tuple[Longs, Longs]:
    lo, hi = zip(*pairs, strict=True)
    return np.array(lo), np.array(hi)


def recomputed(operator: Any, values: list[Any], pairs: list[tuple[int, int]]) -> list[Any]:
    """Combine every range from scratch in plain Python; an empty one gives zeros."""
    zero = np.zeros_like(np.array(values[0])).tolist()
    return [reduce(operator.combine, values[a:b]) if a < b else zero for a, b in pairs]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("operator", NUMBERS, ids=lambda operator: type(operator).__name__)
def test_numbers(name: str, operator: Any) -> None:
    if technique(name).need not in offers(operator):
        pytest.skip("refused, see below")
    for shape, draw in VALUES.items():
        if name == "subtract_on_evict" and shape == "nan":
            continue  # a NaN cannot be taken out again: floats never go this way unasked
        for make in RANGES:
            r = random.Random(f"{shape}{make.__name__}")
            values, pairs = draw(r), make(r)
            results = reduce_ranges(operator, np.array(values), *ends(pairs), by=name)
            np.testing.assert_array_equal(
                results, recomputed(operator, values, pairs), err_msg=f"{shape} {make.__name__}"
            )


@pytest.mark.parametrize("name", [name for name, kind in TECHNIQUES.items() if kind.need is Need.ASSOCIATIVE])
def test_order_matters(name: str) -> None:
    """Maps that do not commute are composed in the order of time."""
    for make in RANGES:
        r = random.Random(make.__name__)
        values, pairs = [(r.choice([-1.0, 1.0, 0.5]), float(r.randint(-9, 9))) for _ in range(ROWS)], make(r)
        results = reduce_ranges(Compose(), np.array(values), *ends(pairs), by=name)
        wanted = np.array(recomputed(Compose(), values, pairs)).reshape(-1, 2)
        np.testing.assert_allclose(results, wanted, rtol=1e-12, atol=1e-12, err_msg=make.__name__)


@pytest.mark.parametrize("name", ["naive", "two_stacks"])
def test_moments_have_any_order_of_merging(name: str) -> None:
    r = random.Random(1)
    values = [(float(r.randint(0, 2)), 1e6 + r.random(), r.random(), 0.0, 0.0, 0.0) for _ in range(ROWS)]
    for make in RANGES:
        pairs = make(r)
        results = reduce_ranges(Moments(), np.array(values), *ends(pairs), by=name)
        wanted = np.array([row if np.ndim(row) else [0.0] * 6 for row in recomputed(Moments(), values, pairs)])
        live = wanted[:, 0] > 0
        np.testing.assert_allclose(results[live], wanted[live], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("name", ["naive", "two_stacks", "subtract_on_evict", None])
def test_whole_numbers_are_added_exactly(name: str | None) -> None:
    r = random.Random(2)
    values = [r.randint(-(2**120), 2**120) for _ in range(ROWS)]
    words = np.array([[v & (2**64 - 1), (v >> 64) & (2**64 - 1)] for v in values], np.uint64)
    small = [r.randint(-(2**63), 2**63 - 1) for _ in range(ROWS)]
    for make in RANGES:
        pairs = make(r)
        wide = reduce_ranges(Wide(), words, *ends(pairs), by=name)
        signed = [int(low) + (int(high) << 64) - (2**128 if high >= 2**63 else 0) for low, high in wide]
        assert signed == [sum(values[a:b]) for a, b in pairs]
        longs = reduce_ranges(Sum(), np.array(small), *ends(pairs), by=name)
        assert longs.tolist() == [(sum(small[a:b]) + 2**63) % 2**64 - 2**63 for a, b in pairs]


def test_a_long_float_stream_does_not_drift() -> None:
    """Large values pass through the window and leave nothing behind, unless somebody asks for a technique that does."""
    values = np.tile([1e16, 1.0, -1e16, 3.0, 0.1], 2000)
    values[5000:] = 0.1
    k = np.arange(len(values))
    results = reduce_ranges(Sum(), values, np.maximum(0, k - 63), k + 1)
    np.testing.assert_allclose(results[5064:], 6.4, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_a_sliding_range_needs_no_arrays(name: str) -> None:
    values = np.random.default_rng(3).integers(-50, 50, 200).astype(float)
    operator: Any = Max() if name == "slick_deque" else Sum()
    for size in (1, 2, 7, 64, 300):
        k = np.arange(len(values))
        wanted = reduce_ranges(operator, values, np.maximum(0, k + 1 - size), k + 1, by="naive")
        np.testing.assert_array_equal(slide(operator, values, size, by=name), wanted)


@pytest.mark.parametrize("name", MANY)
def test_many_ranges_at_once(name: str) -> None:
    r = np.random.default_rng(4)
    numbers, maps = r.integers(-50, 50, 150).astype(float), r.choice([-1.0, 0.5, 1.0], (150, 2))
    for sizes in ([1], [5, 2, 40, 5], list(range(1, 33)), [200]):
        operator: Any = Max() if name == "slick_deque" else Sum()
        results = slide_many(operator, numbers, sizes, by=name)
        for column, size in enumerate(sizes):
            np.testing.assert_array_equal(results[:, column], slide(operator, numbers, size, by="naive"))
        if technique(name).need is Need.ASSOCIATIVE:
            composed = slide_many(Compose(), maps, sizes, by=name)
            for column, size in enumerate(sizes):
                np.testing.assert_allclose(composed[:, column], slide(Compose(), maps, size, by="naive"), rtol=1e-9)


@pytest.mark.parametrize("name", MANY)
def test_queries_that_are_due_at_different_slides(name: str) -> None:
    """Ranges of one query grow and shrink, and some slides have no answer at all."""
    r = random.Random(9)
    values = [float(r.randint(-9, 9)) for _ in range(120)]
    begins, due, starts, numbers, widest = [0, 0, 0], [0], [], [], 1
    for k in range(len(values)):
        for q in r.sample(range(3), r.choice([0, 1, 3])):
            begins[q] = r.randint(begins[q], k)
        wanted = sorted(r.sample(range(3), r.choice([0, 0, 1, 3])), key=lambda q: -begins[q])
        starts += [begins[q] for q in wanted]
        numbers += wanted
        widest = max([widest, *(k + 1 - begins[q] for q in wanted)])
        due.append(len(starts))
    asked = Asked(np.array(due), np.array(starts), np.array(numbers), 3, widest)
    operator: Any = Max() if name == "slick_deque" else Sum()
    answers = answer_many(operator, np.array(values), asked, by=name)
    slides = np.repeat(np.arange(len(values)), np.diff(due))
    assert answers.tolist() == recomputed(operator, values, list(zip(starts, slides + 1, strict=True)))


def counted(name: str, operator: Any, size: int, values: Any) -> Longs:
    """Count the combinations of every slide once the window is full."""
    marks = np.zeros(len(values), np.int64)
    slide(Counting(operator, np.zeros(1, np.int64), marks), values, size, by=name)
    return np.diff(marks)[4 * size :]


@pytest.mark.parametrize(
    ("name", "size", "mean", "worst"),
    [
        ("two_stacks", 4, 2.00, 3),  # one fewer than pushing before turning over
        ("two_stacks", 16, 2.75, 15),
        ("two_stacks", 64, 2.94, 63),
        ("daba", 4, 3.00, 4),
        ("daba", 16, 4.50, 8),
        ("daba", 64, 4.88, 8),
        ("flatfit", 4, 1.80, 3),
        ("flatfit", 16, 2.65, 15),
        ("flatfit", 64, 2.91, 63),
        ("flatfat", 4, 3.25, 4),
        ("flatfat", 16, 7.06, 8),
        ("flatfat", 64, 11.02, 12),
    ],
)
def test_combinations_of_a_slide(name: str, size: int, mean: float, worst: int) -> None:
    maps = np.random.default_rng(5).random((64 * 65 * 5, 2))
    operations = counted(name, Compose(), size, maps)
    whole = len(operations) // (size * (size + 1)) * size * (size + 1)
    assert operations[:whole].mean() == pytest.approx(mean, abs=0.006)
    assert operations.max() == worst


def test_flatfit_resets_every_n_plus_1_slides() -> None:
    operations = counted("flatfit", Sum(), 16, np.ones(2000))
    spikes = np.flatnonzero(operations == 15)
    assert set(np.diff(spikes)) == {17}


def test_subtract_on_evict_takes_two_operations() -> None:
    assert set(counted("subtract_on_evict", Sum(), 50, np.ones(1000))) == {2}


@pytest.mark.parametrize(("size", "comparisons"), [(2, 1.0), (5, 1.6), (10, 1.8), (100, 1.98)])
def test_comparisons_of_slick_deque(size: int, comparisons: float) -> None:
    values = np.random.default_rng(6).random(400_000)
    assert counted("slick_deque", Max(), size, values).mean() == pytest.approx(comparisons, abs=0.01)


def test_many_sums_take_two_operations_each() -> None:
    marks = np.zeros(500, np.int64)
    counting = Counting(Sum(), np.zeros(1, np.int64), marks)
    slide_many(counting, np.ones(500), [3, 9, 20], by="subtract_on_evict")
    assert set(np.diff(marks)[30:]) == {6}


def test_values_of_the_paper() -> None:
    values = np.array([5, 1, 6, 3, 2, 4, 7, 0])
    for name in KERNELS:
        if name != "subtract_on_evict":
            assert slide(Max(), values, 3, by=name).tolist() == [5, 5, 6, 6, 6, 4, 7, 7]
        if name != "slick_deque":
            assert slide(Sum(), values, 3, by=name).tolist() == [5, 6, 12, 10, 11, 9, 13, 11]
    # Six positions, the oldest of which leaves: 4 displaces 2 and 3 but not 5.
    history = np.array([6, 0, 5, 2, 1, 3, 4])
    assert slide_many(Max(), history, range(1, 7), by="slick_deque")[-1].tolist() == [4, 4, 4, 4, 5, 5]


def test_a_deque_holds_little() -> None:
    values = np.random.default_rng(7).random(20_000)
    out = np.zeros_like(values)
    held = {name: KERNELS[name](Max(), values, 1 - 1024, 1, out) for name in KERNELS if name != "subtract_on_evict"}
    assert held["slick_deque"] < 80
    assert held["naive"] == 1024
    assert held["two_stacks"] == held["flatfat"] == held["bint"] == 2048


def test_trees_double_and_halve() -> None:
    """Five rows come and four go one by one: a tree doubles when it is full and halves at a third."""
    leaves, seen = 1, []
    for count in (1, 2, 3, 4, 5, 4, 3, 2, 1):
        leaves = fitting(leaves, count)
        seen.append((count, leaves))
    assert seen == [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (4, 8), (3, 8), (2, 4), (1, 2)]


def test_slides_can_be_timed() -> None:
    marks = np.zeros(1000, np.int64)
    slide(Timed(Sum(), marks), np.ones(1000), 16, by="two_stacks")
    assert (np.diff(marks) >= 0).all()


@pytest.mark.parametrize(
    ("name", "operator", "message"),
    [
        (
            "subtract_on_evict",
            Max(),
            r"subtract_on_evict needs .* which Max is not\. Use naive, flatfat, .*slick_deque",
        ),
        ("slick_deque", Sum(), r"slick_deque needs .* which Sum is not\. Use naive, subtract_on_evict"),
        ("tree", Sum(), r"there is no technique 'tree'\. Techniques are naive"),
    ],
)
def test_refusals_name_the_alternatives(name: str, operator: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        slide(operator, np.ones(3), 2, by=name)


def test_many_ranges_need_a_form_for_them() -> None:
    with pytest.raises(UnsupportedError, match=r"daba has no form for many ranges at once\. Use naive"):
        slide_many(Sum(), np.ones(3), [2], by="daba")
    with pytest.raises(QueryError, match="empty"):
        slide_many(Sum(), np.ones(3), [0, 2], by="naive")
    with pytest.raises(QueryError, match="empty"):
        slide(Sum(), np.ones(3), 0, by="naive")


def test_nothing_comes_of_nothing() -> None:
    none = np.array([], np.float64)
    for name in KERNELS:
        operator: Any = Max() if name == "slick_deque" else Sum()
        assert slide(operator, none, 3, by=name).tolist() == []
        assert reduce_ranges(operator, none, np.array([], np.int64), np.array([], np.int64), by=name).tolist() == []


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_code_does_what_python_does(name: str) -> None:
    values = np.random.default_rng(8).integers(0, 9, 60).astype(float)
    operator: Any = Max() if name == "slick_deque" else Sum()
    out = np.zeros_like(values)
    KERNELS[name].py_func(operator, values, -6, 1, out)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(out, slide(operator, values, 7, by=name))


def test_the_choice_is_by_cost() -> None:
    whole, floats, selective = {Need.ASSOCIATIVE, Need.INVERTIBLE}, {Need.ASSOCIATIVE}, {Need.SELECTIVE}
    assert cheapest(whole, 1000, 1).name == "subtract_on_evict"
    assert cheapest(floats, 1000, 1).name == "two_stacks"
    assert cheapest(floats, 3, 3).name == cheapest(whole, 2, 2).name == "naive"
    assert cheapest(selective, 5, 5).name == "slick_deque"


def test_the_catalogue_has_a_kernel_for_every_technique() -> None:
    assert list(KERNELS) == list(TECHNIQUES)
    assert list(MANY) == [name for name, kind in TECHNIQUES.items() if kind.many]
