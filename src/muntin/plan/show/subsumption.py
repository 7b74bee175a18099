"""What subsumption groups contain: chains of windows with their riders, and what each level keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muntin.duration import Duration
from muntin.plan.show.forest import plain_window, window_text
from muntin.plan.show.outline import Box, Figure, Outline
from muntin.plan.show.parts import labels, silent

if TYPE_CHECKING:
    from muntin.plan.subsumption.grouping import Subsumption
    from muntin.plan.subsumption.groups import Group, Level
    from muntin.window import Window


def outline_of_subsumption(grouping: Subsumption) -> Outline:
    """Say which windows are in which group, and how long what they keep lasts."""
    top = Box("input", "input")
    boxes = [box for number, group in enumerate(grouping.groups, start=1) for box in _group(number, group, top)]
    head = Figure("method", grouping.method, (summary(grouping),)), Figure("changes", grouping.changes)
    return Outline(head, (top, *boxes), _total(grouping))


def summary(grouping: Subsumption) -> str:
    """Tell the windows and groups in a line."""
    windows, groups = len(grouping.windows), len(grouping.groups)
    counts = f"{windows} window{'s'[: windows != 1]} in {groups} group{'s'[: groups != 1]}"
    fewest = ", the fewest possible" if grouping.method == "exact" and not grouping.changes else ""
    changed = f", after {grouping.changes} change{'s'[: grouping.changes != 1]}" if grouping.changes else ""
    return f"{grouping.method} grouping: {counts}{fewest}{changed}"


def _group(number: int, group: Group, top: Box) -> Iterator[Box]:
    """Yield a group, and below it its levels, each below the one whose leaving rows it takes up."""
    long = group.longest
    title = f"group {number}, base slide {_length(long, group.slide)}"
    figures = labels(group.windows), *silent({"slide": int(group.slide), "kept": group.kept, "granule": group.granule})
    above = Box("shape", title, top, f"keeps {_length(long, group.kept)} at most", figures)
    yield above
    for level, *values in zip(group.levels, group.cores, group.buffers, group.granules, strict=True):
        window, lengths = level.window, dict(zip(("core", "buffer", "granule"), values, strict=True))
        told = ", ".join(f"{name} {_length(window, value)}" for name, value in lengths.items() if value)
        above = Box("window", window_text(window), above, told, silent(plain_window(window) | lengths))
        yield above
        yield from _riders(level, above)


def _riders(level: Level, above: Box) -> Iterator[Box]:
    for rider in level.riders:
        times = level.quotient(rider)
        figures = silent(plain_window(rider) | {"quotient": times})
        yield Box("rider", f"{window_text(rider)} rides", above, f"given 1 of {times} results", figures)


def _total(grouping: Subsumption) -> tuple[Figure, ...]:
    """Compare the time that is kept with what the windows would keep alone."""
    figures = silent({"kept": grouping.kept, "kept_alone": grouping.kept_alone})
    if not grouping.groups:
        return figures
    window = grouping.groups[0].longest
    kept, alone = (_length(window, length) for length in (grouping.kept, grouping.kept_alone))
    return (*figures, Figure("saving", None, (f"keeps the rows of {kept} at most, instead of {alone}",)))


def _length(window: Window, length: int) -> str:
    """Write a length in the unit of a window."""
    return str(Duration(length)) if window.is_timed else f"{length:,}"
