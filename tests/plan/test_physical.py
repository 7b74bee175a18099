import pytest

from muntin.plan.physical import STRATEGIES, Prices, Shape, Statistics, Work, choose, grouped, price
from muntin.window import Window, hopping, tumbling

DENSE = Work(Statistics(rows=10**8, keys=10, span=10**12))
THIN = Work(Statistics(rows=10**7, keys=1, span=10**13))


def anything(_: Shape) -> bool:
    return True


def test_windows_with_no_common_divisor_are_not_cut_into_slices_as_fine_as_the_events() -> None:
    windows = tuple(tumbling(f"{n} seconds") for n in sorted({b * k for b in (4, 7, 11) for k in range(1, 9)}))
    groups = grouped(THIN, windows, Shape.SLICES_EXPLODE)
    assert len(groups) > 1
    assert sorted(w for group in groups for w in group.windows) == sorted(windows)
    assert sum(group.cost for group in groups) < price(THIN, windows, Shape.SLICES_EXPLODE).cost


def test_windows_with_a_common_divisor_share_one_slicing() -> None:
    windows = tuple(tumbling(f"{n} minutes") for n in (10, 20, 30, 60))
    (group,) = grouped(DENSE, windows, Shape.SLICES_KERNEL)
    assert group.grids == ((600_000_000, 0),)


def test_the_cheapest_of_what_is_allowed_is_chosen() -> None:
    windows = tuple(tumbling(f"{n} minutes") for n in range(1, 21))
    found = choose(DENSE, windows, "auto", anything)
    costs = dict(found.alternatives)
    assert len(costs) == len(Shape)
    assert found.cost == pytest.approx(min(costs.values()))
    assert choose(DENSE, windows, "kernel", lambda s: not s.uses_kernel).groups[0].shape in STRATEGIES["native"]


def test_one_window_is_not_shared() -> None:
    small = Work(Statistics(rows=1000, keys=3, span=10**10))
    assert choose(small, (tumbling("1 hour"),), "auto", anything).groups[0].shape in (Shape.INDEPENDENT, Shape.EXPAND)


def test_fine_slides_are_never_exploded() -> None:
    windows = (hopping("30 days", "1 hour"), hopping("1 day", "1 minute"))
    work = Work(Statistics(rows=10**6, keys=100, span=90 * 86_400_000_000))
    assert choose(work, windows, "auto", anything).groups[0].shape.uses_kernel


@pytest.mark.parametrize("shape", list(Shape))
def test_more_rows_cost_more(shape: Shape) -> None:
    windows = (Window("1 min"), Window("10 min", "2 min"))
    costs = [price(Work(Statistics(rows=n, keys=5, span=10**11)), windows, shape).cost for n in (10**4, 10**6, 10**8)]
    assert costs == sorted(costs)


def test_estimates_do_not_exceed_what_is_possible() -> None:
    work = Work(Statistics(rows=1000, keys=10, span=10**9), prices=Prices())
    assert work.instances(tumbling("1 s")) <= 1000
    assert work.slices(((1_000_000, 0),)) <= 1000
    assert Work(Statistics(rows=0)).instances(tumbling("1 s")) == 0
