"""Windows from slices by panes, pairs and Cutty equal windows from rows."""

import random

import numpy as np
import pytest

from muntin.kernels.catalogue import reduce_ranges
from muntin.kernels.operators import Compose, Max
from muntin.kernels.sliced import sliced_windows
from muntin.plan.slicing.edges import SLICINGS
from muntin.window import Window


@pytest.mark.parametrize("slicing", SLICINGS)
@pytest.mark.parametrize("technique", ["naive", "flatfat", "two_stacks", None])
def test_windows_from_slices(slicing: str, technique: str | None) -> None:
    r = random.Random(f"{slicing}{technique}")
    for _ in range(40):
        slide = r.randint(1, 12)
        window = Window(r.randint(slide, 50), slide, r.randrange(slide))
        time = np.array(sorted(r.choices(range(-60, 150), k=r.randint(1, 80))))
        values = np.array([[r.choice([-1.0, 1.0, 0.5]), float(r.randint(-9, 9))] for _ in time])
        instances, results, slices = sliced_windows(
            Compose(), time, values, window.period, SLICINGS[slicing](window), by=technique
        )
        np.testing.assert_allclose(
            results, reduce_ranges(Compose(), values, instances.lo, instances.hi, by="naive"), rtol=1e-9
        )
        assert len(slices) <= len(time)


def test_cutty_cuts_the_fewest_slices() -> None:
    time, window = np.arange(3000), Window(10, 3)
    counts = {
        name: len(sliced_windows(Max(), time, time.astype(float), window.period, cuts(window))[2])
        for name, cuts in SLICINGS.items()
    }
    assert counts == {"panes": 3000, "pairs": 2000, "cutty": 1000}
