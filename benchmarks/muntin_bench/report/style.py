"""How all figures of the report look: colours for light and dark pages, plain ticks, names at the ends of lines.

Colours are those that people with any colour vision tell apart (Okabe and Ito). The background is drawn, and a style
sheet in the file changes all colours where the reader's theme is dark: a figure is readable on every page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import numpy as np
from cycler import cycler

mpl.use("Agg")
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

WIDTH = 7.2
"""Inches: about 690 pixels, the width of a page's column, so that text is as large there as it is here."""
INK, FAINT, GRID, PAGE = "#1f2328", "#59636e", "#e4e8ec", "#ffffff"
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY, BROWN = (
    *("#0072b2", "#d98c00", "#009e73", "#d55e00", "#b0579a", "#3fa0d9", "#7d8793", "#7a5230"),
)
DARK = {
    INK: "#e6edf3",
    FAINT: "#9198a1",
    GRID: "#262c34",
    PAGE: "#0d1117",
    BLUE: "#58a6ff",
    ORANGE: "#f0b429",
    GREEN: "#3fcf9f",
    RED: "#ff8a4c",
    PURPLE: "#e39bd0",
    SKY: "#8fd3ff",
    GREY: "#a3adb8",
    BROWN: "#c49a6c",
}
"""Every colour, and what it is on dark pages."""
COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY, BROWN)
MUNTIN, SPARK = BLUE, GREY
"""What is ours, and what Spark does alone."""

mpl.rcParams.update(
    {
        "svg.hashsalt": "muntin",  # the same figure is the same file
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "axes.labelsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "text.color": INK,
        "axes.labelcolor": FAINT,
        "axes.titlecolor": INK,
        "axes.edgecolor": FAINT,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "axes.facecolor": PAGE,
        "figure.facecolor": PAGE,
        "savefig.facecolor": PAGE,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.6,
        "lines.marker": "o",
        "lines.markersize": 3,
        "axes.prop_cycle": cycler(color=COLORS),
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.w_pad": 0.08,
        "figure.constrained_layout.h_pad": 0.08,
    }
)

Lines = Mapping[str, Sequence[tuple[float, float]]]
"""The points of every line by its name."""


def sheet(height: float) -> Figure:
    """Give an empty figure as wide as a page."""
    return Figure(figsize=(WIDTH, height))


LONGEST = 86
"""Characters of a headline that fit into one line."""


def headline(figure: Figure, finding: str) -> None:
    """Write above a figure what it shows, if that is known."""
    if not finding:
        return
    lines = -(-len(finding) // LONGEST)
    text = fill(finding, LONGEST if lines == 1 else len(finding) // lines + 8)
    figure.suptitle(text, x=0.012, ha="left", fontsize=10, fontweight="bold")


def draw_lines(axes: Axes, lines: Lines, colors: Mapping[str, str]) -> None:
    """Draw lines, those of earlier names thicker: where several meet, all can be seen."""
    for place, (name, points) in enumerate(lines.items()):
        if points:
            width = 1.7 + min(0.4, 2 / len(lines)) * (len(lines) - 1 - place)
            axes.plot(*zip(*points, strict=True), color=colors[name], linewidth=width, markersize=width + 2, label=name)


def name_ends(figure: Figure, axes: Axes, size: float = 8) -> None:
    """Write the name of every line beside its last point; names that would overlap move apart."""
    figure.draw_without_rendering()  # now the panel has its height
    gap = 1.25 * size * figure.dpi / 72 / axes.bbox.height
    ends = [_end(axes, line) for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    for early in [end for end in ends if end[0] < EARLY]:
        _name(axes, early[2], (early[0] + 0.03, early[1]), size)
        ends.remove(early)
    ends.sort(key=lambda end: end[1])
    for height, (_, _, line) in zip(_apart([height for _, height, _ in ends], gap), ends, strict=True):
        _name(axes, line, (1.05, height), size)


EARLY = 0.8
"""A line that ends before this share of the panel's width has its name inside."""


def _end(axes: Axes, line: Line2D) -> tuple[float, float, Line2D]:
    """Give where a line ends, as shares of the panel's width and height."""
    x, y = axes.transAxes.inverted().transform(axes.transData.transform(_last(line)))
    return float(x), float(y), line


def _last(line: Line2D) -> tuple[float, float]:
    x, y = np.asarray(line.get_xydata(), float)[-1]
    return float(x), float(y)


NEAR, MOSTLY, DASH = 0.015, 0.7, 5.0
"""Lines coincide if they are so near, as a share of the panel's height, at such a share of their points. The length of
their dashes is in points."""


def _dash_coinciding(axes: Axes) -> None:
    """Draw lines that coincide as dashes of their colours in turn."""
    groups: list[list[Line2D]] = []
    for line in axes.get_lines():
        if not str(line.get_label()).startswith("_"):
            group = next((group for group in groups if _coincide(axes, group[0], line)), None)
            if group is None:
                groups.append([line])
            else:
                group.append(line)
    for group in (group for group in groups if len(group) > 1):
        width = max(line.get_linewidth() for line in group)
        on, off = DASH / width, DASH / width * (len(group) - 1)
        for place, line in enumerate(group):
            line.set(linewidth=width, linestyle=(on * (len(group) - place), (on, off)), dash_capstyle="butt")
            line.set(markersize=width + 1, markevery=(place, len(group)))


def _coincide(axes: Axes, one: Line2D, other: Line2D) -> bool:
    heights = [_heights(axes, line) for line in (one, other)]
    if heights[0].keys() != heights[1].keys() or len(heights[0]) < 4:
        return False
    near = [abs(height - heights[1][x]) < NEAR for x, height in heights[0].items()]
    return sum(near) >= MOSTLY * len(near)


def _heights(axes: Axes, line: Line2D) -> dict[float, float]:
    """Give the points of a line: their heights as shares of the panel's, by x."""
    points = np.asarray(line.get_xydata(), float)
    shares = axes.transAxes.inverted().transform(axes.transData.transform(points))
    return dict(zip(points[:, 0].tolist(), shares[:, 1].tolist(), strict=True))


def _name(axes: Axes, line: Line2D, place: tuple[float, float], size: float) -> None:
    axes.annotate(
        str(line.get_label()),
        xy=_last(line),
        xytext=place,
        textcoords="axes fraction",
        color=line.get_color(),
        fontsize=size,
        va="center",
        arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 1},
        annotation_clip=False,
    )


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights in rising order apart, as little as needed, and not out of the panel.

    >>> _apart([0.5, 0.5, 0.9], 0.1), _apart([0.98, 1.0], 0.1)
    ([0.45, 0.55, 0.9], [0.85, 0.95])
    """
    blocks: list[list[float]] = []  # heights that stand one gap apart, as the place of their middle and their number
    for height in heights:
        blocks.append(_inside([height, 1], gap))
        while len(blocks) > 1 and _top(blocks[-2], gap) > _bottom(blocks[-1], gap) - gap:
            (low, few), (high, more) = blocks[-2], blocks[-1]
            blocks[-2:] = [_inside([(low * few + high * more) / (few + more), few + more], gap)]
    moved = [_bottom(block, gap) + gap * place for block in blocks for place in range(int(block[1]))]
    return [round(height, 4) for height in moved]


def _inside(block: list[float], gap: float) -> list[float]:
    half = gap * block[1] / 2
    return [max(half, min(1 - half, block[0])), block[1]]


def _top(block: Sequence[float], gap: float) -> float:
    return block[0] + gap * (block[1] - 1) / 2


def _bottom(block: Sequence[float], gap: float) -> float:
    return block[0] - gap * (block[1] - 1) / 2


def log_ticks(axis: Axis, ticks: Sequence[float] | None = None) -> None:
    """Set a logarithmic scale with plain numbers: at the given places, or at 1, 2 and 5, or at powers of ten."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    located = LogLocator(subs=(1, 2, 5)) if decades < 2.6 else LogLocator(numticks=6)
    axis.set_major_locator(FixedLocator(list(ticks)) if ticks is not None else located)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """Write a round number.

    >>> short(0.01), short(5), short(20_000), short(1_000_000), short(2.5e9)
    ('0.01', '5', '20k', '1M', '2.5G')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def save(figure: Figure, path: Path) -> None:
    """Write a figure with its colours for light and for dark pages."""
    for axes in figure.axes:
        _dash_coinciding(axes)
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    rules = [
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    sheet = f"<style>@media (prefers-color-scheme: dark) {{ {' '.join(rules)} }}</style>\n <defs>"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue().replace("<defs>", sheet, 1), encoding="utf-8")
