"""From windows to trees: each slices the input by the edges of its own windows and shares the partials among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from muntin.choices import WeaveAlgorithm, check_choice
from muntin.duration import UNIT_NAMES, format_duration
from muntin.plan.number import number
from muntin.plan.rate import Rate, parse_rate, unit_of
from muntin.plan.slicing.edges import composite_slide, edge_rate, edges_of
from muntin.plan.slicing.weave.exhaustive import exhaustive
from muntin.plan.slicing.weave.model import EXACT_GRIDS, Model, tri_weave_b_model, tri_weave_model, weave_share_model
from muntin.plan.slicing.weave.omega import OMEGAS, Omega
from muntin.plan.slicing.weave.share import max_share, no_share, weave_share
from muntin.query import Windows, distinct_windows
from muntin.window import Window

Pricing = Callable[[Omega, Iterable[Window], Fraction], Model]
Search = Callable[[Model, Sequence[Window]], list[list[Window]]]

WEAVES: dict[WeaveAlgorithm, tuple[Pricing, Search]] = {
    "no_share": (weave_share_model, no_share),
    "max_share": (weave_share_model, max_share),
    "weave_share": (weave_share_model, weave_share),
    "tri_weave": (tri_weave_model, weave_share),
    "tri_weave_b": (tri_weave_b_model, weave_share),
    "exhaustive": (weave_share_model, exhaustive),
}
"""What a tree is charged for, and how trees are searched for."""

_SHOWN = 6
"""Windows of one tree that are written at most."""


@dataclass(frozen=True, slots=True, repr=False)
class Weave:
    """Windows in trees that share partials, and their cost by the model; mt.weave returns it.

    >>> weave("6m/2m, 8m/4m, 9m/3m", "panes").trees
    ((Window('6m', '2m'), Window('8m', '4m')), (Window('9m', '3m'),))
    """

    trees: tuple[tuple[Window, ...], ...]
    cost: float
    """Operations per unit of time, for partial and for final aggregation."""
    technique: str
    algorithm: str
    form: str
    """Whether operations are counted as the paper prints them or repaired."""
    unit: int | None = None
    """The unit of time in microseconds; None for plain units."""

    def __str__(self) -> str:
        """Write one tree a line.

        >>> print(weave([Window(6, 2), Window(8, 4), Window(9, 3)]))
        weave_share, slickdeque_inv: 3 windows in 2 trees, 4.67 operations per unit
        ├─ 2 edges in 4: ⟨6,2⟩ ⟨8,4⟩
        └─ 1 edge in 3: ⟨9,3⟩
        """
        lines = [f"{self.algorithm}, {self.technique}: {self._summary()}"]
        for place, tree in enumerate(self.trees, start=1):
            more = f" and {len(tree) - _SHOWN} more" if len(tree) > _SHOWN else ""
            windows = " ".join(map(str, tree[:_SHOWN]))
            lines.append(f"{'└─' if place == len(self.trees) else '├─'} {self._edges(tree)}: {windows}{more}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{self.algorithm} of {self._summary()}>"

    def _summary(self) -> str:
        time = "unit" if self.unit is None else UNIT_NAMES.get(self.unit, format_duration(self.unit))
        windows, trees = sum(map(len, self.trees)), len(self.trees)
        counts = f"{windows} window{'s'[: windows != 1]} in {trees} tree{'s'[: trees != 1]}"
        return f"{counts}, {number(Fraction(self.cost))} operations per {time}"

    def _edges(self, tree: tuple[Window, ...]) -> str:
        grids, length = edges_of(tree), composite_slide(tree)
        if len(grids) > EXACT_GRIDS:
            return f"{len(grids)} grids of edges"
        count = int(edge_rate(grids) * length)
        time = number(length) if self.unit is None else format_duration(length)
        return f"{number(count)} edge{'s'[: count != 1]} in {time}"


def weave(
    windows: Windows,
    technique: str = "slickdeque_inv",
    rate: Rate = 1,
    algorithm: WeaveAlgorithm = "weave_share",
    form: str = "repaired",
) -> Weave:
    """Decide which windows share slices, for final aggregation by a technique.

    Sharing saves a pass over the input, but adds the edges of each window to those of all others in its tree. Repeated
    windows are evaluated once. The trees are for research and for other engines: no query of Muntin runs on them.

    Args:
        windows: Periodic windows, as objects or text.
        technique: "panes", "flatfat", "flatfit", "slickdeque_inv" or "slickdeque_non_inv".
        rate: Events per unit of time, as in mt.plan.
        algorithm: "weave_share", "no_share", "max_share", "exhaustive" (for up to ten windows), or "tri_weave", which
            charges a tree for every partial of the whole set instead of for every event; "tri_weave_b" charges it for
            those between its own edges (docs/decisions/0007-triweave-cost.md).
        form: "repaired", or "printed" for the paper's formulas.

    >>> woven = weave([Window(6, 2), Window(8, 4), Window(9, 3)], "panes")
    >>> woven.cost, woven.trees
    (5.5, ((Window(6, 2), Window(8, 4)), (Window(9, 3),)))
    >>> weave([Window(6, 2), Window(8, 4), Window(9, 3)], "panes", algorithm="max_share").cost
    6.333333333333333
    """
    check_choice("form", form, OMEGAS)
    check_choice("technique", technique, OMEGAS[form])
    check_choice("algorithm", algorithm, WeaveAlgorithm)
    omega, (pricing, search) = OMEGAS[form][technique], WEAVES[algorithm]
    asked = distinct_windows(windows)
    unit = unit_of(asked)
    events, _ = parse_rate(rate, unit)
    model = pricing(omega, asked, events)
    trees = tuple(sorted(tuple(sorted(tree)) for tree in search(model, asked)))
    return Weave(trees, model.cost(trees) * (unit or 1), technique, algorithm, form, unit)
