"""Windows drawn as SVG: the rows of one key on a line of time, and below them the instances that they make.

Instances come from `Kind.over`, the plain definition of a window, so a drawing shows what the window means. Colours are
written twice, for light and for dark pages; the background is drawn, so that text is readable on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from muntin.window import Instance, Kind

WIDTH = 720
_EDGE = 20
_LANE = 32
_BAR = 14
_LEAST = 10
"""Width of a bar that lasts no time."""
_CHARACTER = 6.9
"""Width of a character of 12 px text."""
_MINUTE = 60_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_COLOURS = {
    "page": ("fill", "#ffffff", "#0d1117"),
    "frame": ("stroke", "#d0d7de", "#30363d"),
    "text": ("fill", "#1f2328", "#e6edf3"),
    "faint": ("fill", "#59636e", "#9198a1"),
    "grid": ("stroke", "#e4e8ec", "#21262d"),
    "axis": ("stroke", "#59636e", "#9198a1"),
    "row": ("fill", "#1f2328", "#e6edf3"),
    "outline": ("stroke", "#1f2328", "#e6edf3"),
    "bar": ("fill", "#b6dcff", "#14417a"),
    "end": ("stroke", "#0550ae", "#79c0ff"),
    "cut": ("stroke", "#bc4c00", "#f0883e"),
}
"""What a class colours, on light pages and on dark ones."""


@dataclass(frozen=True)
class Line:
    """The line of time of a drawing: from when to when, in microseconds, with a label every step."""

    first: int
    last: int
    step: int = 5 * _MINUTE

    def place(self, time: int) -> float:
        """Give the place of a time on the drawing."""
        return _EDGE + (time - self.first) / (self.last - self.first) * (WIDTH - 2 * _EDGE)


@dataclass(frozen=True)
class Rows:
    """Rows of one key, and what is told of each of them above the line."""

    times: Sequence[int]
    values: Sequence[Any] = ()
    name: str = ""
    """The name of the values."""
    holds: Sequence[bool] = ()
    """For which rows a condition holds: the others are drawn hollow."""


@dataclass(frozen=True)
class Drawn:
    """A window and its instances over the rows."""

    window: Kind
    instances: tuple[Instance, ...]

    @staticmethod
    def over(window: Kind, times: Sequence[int], *columns: Sequence[Any]) -> Drawn:
        """Ask a window for its instances."""
        return Drawn(window, tuple(sorted(window.over(times, *columns), key=lambda one: (one.lo, one.hi))))


def draw(title: str, line: Line, rows: Rows, windows: Sequence[Drawn], *, cut: bool = False) -> str:
    """Write windows over the same rows as one SVG; with cut, also where the rows are cut into slices."""
    axis = 62 if rows.values else 50
    top, shapes = axis + 24, []
    for drawn in windows:
        if len(windows) > 1:
            shapes.append(_text(_EDGE, top + _LANE - 5, drawn.window.label, "faint"))
        for lane in _lanes(drawn.instances, line):
            ends = [*(_extent(one, line)[0] for one in lane[1:]), WIDTH - _EDGE]
            for one, end in zip(lane, ends, strict=True):
                shapes += _bar(one, rows, line, top)
                shapes += _label(one, line, top, end, drawn.window.measure)
            top += _LANE
    height = top + 6
    cuts = _cuts(windows, rows, line, axis) if cut else ()
    parts = [*_grid(line, axis, top), *_rows(rows, line, axis), *cuts, *shapes]
    return "\n".join([*_head(title, rows, windows, height), *parts, "</svg>", ""])


def _head(title: str, rows: Rows, windows: Sequence[Drawn], height: int) -> Iterator[str]:
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    font = 'font-family="system-ui, sans-serif"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img" aria-labelledby="title desc">'
    yield f'<title id="title">{escape(title)}</title>'
    yield f'<desc id="desc">{escape(_told(rows, windows))}</desc>'
    dark = " ".join(f".{name} {{ {what}: {colour} }}" for name, (what, _, colour) in _COLOURS.items())
    yield f"<style>@media (prefers-color-scheme: dark) {{ {dark} }}</style>"
    inside = f'x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"'
    yield f'<rect class="page frame" {inside} fill="{_light("page")}" stroke="{_light("frame")}"/>'
    code = 'font-family="ui-monospace, monospace" font-size="12" font-weight="600"'
    yield f'<text class="text" x="{_EDGE}" y="20" fill="{_light("text")}" {code}>{escape(title)}</text>'


def _told(rows: Rows, windows: Sequence[Drawn]) -> str:
    """Say in words what is drawn."""
    said = [f"Rows at {', '.join(map(_clock, rows.times))}."]
    for drawn in windows:
        stretches = [f"{_clock(one.start)} to {_clock(one.end)} with {one.hi - one.lo}" for one in drawn.instances]
        said.append(f"Instances of {drawn.window.label}, with their rows: {', '.join(stretches)}.")
    return " ".join(said)


def _grid(line: Line, axis: int, bottom: int) -> Iterator[str]:
    for time in range(line.first, line.last + 1, line.step):
        yield _stroke("grid", line.place(time), axis, line.place(time), bottom)
        if line.first < time < line.last:
            yield _text(line.place(time), axis + 16, _clock(time), "faint", "middle")
    yield _stroke("axis", _EDGE, axis, WIDTH - _EDGE, axis)


def _rows(rows: Rows, line: Line, axis: int) -> Iterator[str]:
    """Yield a mark for every row, rows of one time above one another, with its value above."""
    if rows.name:
        yield _text(_EDGE, axis - 8, rows.name, "faint")
    for row, time in enumerate(rows.times):
        x, rank = line.place(time), _rank(rows.times, row)
        hollow = bool(rows.holds) and not rows.holds[row]
        yield _mark(x, axis - 8 * rank, 4, hollow=hollow)
        if rows.values and (row + 1 == len(rows.times) or rows.times[row + 1] != time):
            value = "null" if rows.values[row] is None else str(rows.values[row])
            yield _text(x, axis - 10 - 8 * rank, value, "text", "middle", 11)


def _bar(one: Instance, rows: Rows, line: Line, top: float) -> Iterator[str]:
    """Yield an instance with its rows; a line closes the end where a row of that time is in it."""
    left, right = _extent(one, line)
    y = top + _LANE - _BAR - 2
    size = f'width="{right - left:.1f}" height="{_BAR}"'
    yield f'<rect class="bar" x="{left:.1f}" y="{y}" {size} rx="2" fill="{_light("bar")}"/>'
    yield _stroke("end", left + 1, y, left + 1, y + _BAR, 2)
    if rows.times[one.hi - 1] == one.end:
        yield _stroke("end", right - 1, y, right - 1, y + _BAR, 2)
    for row in range(one.lo, one.hi):
        x = min(max(line.place(rows.times[row]), left + 5), right - 5)
        yield _mark(x, y + _BAR / 2 + 2 - 5 * _rank(rows.times, row), 2.5)


def _label(one: Instance, line: Line, top: float, end: float, measure: str | None) -> Iterator[str]:
    """Yield where an instance begins and ends, if there is room before the next one."""
    if one.begin is not None:
        label = f"[{one.begin}, {one.stop}) {measure}".replace("-", "−")
    else:
        label = "–".join(dict.fromkeys(map(_clock, (one.start, one.end))))
    left = _extent(one, line)[0]
    if left + len(label) * _CHARACTER <= end:
        yield _text(left, top + _LANE - _BAR - 6, label, "text")


def _cuts(windows: Sequence[Drawn], rows: Rows, line: Line, axis: int) -> Iterator[str]:
    """Yield a line before every row that an instance begins with, below it where the row before has the same time."""
    for row in sorted({one.lo for drawn in windows for one in drawn.instances}):
        x, rank = line.place(rows.times[row]), _rank(rows.times, row)
        if rank:
            yield _stroke("cut", x - 8, axis + 4 - 8 * rank, x + 8, axis + 4 - 8 * rank, 2)
        else:
            yield _stroke("cut", x - 6, axis - 16, x - 6, axis + 5, 2)


def _lanes(instances: Sequence[Instance], line: Line) -> list[list[Instance]]:
    """Put instances that do not overlap into one lane, each into the first that has room."""
    lanes: list[list[Instance]] = []
    for one in instances:
        left = _extent(one, line)[0]
        lane = next((lane for lane in lanes if _extent(lane[-1], line)[1] <= left), None)
        if lane is None:
            lanes.append([one])
        else:
            lane.append(one)
    return lanes


def _extent(one: Instance, line: Line) -> tuple[float, float]:
    """Give the ends of a bar; it is a little shorter than its time, so that neighbours can be told apart."""
    left, right = line.place(one.start), line.place(one.end) - 2
    return (left, right) if right - left >= _LEAST else (left - _LEAST / 2, left + _LEAST / 2)


def _rank(times: Sequence[int], row: int) -> int:
    """Count the rows of the same time before a row."""
    return row - times.index(times[row])


def _mark(x: float, y: float, radius: float, *, hollow: bool = False) -> str:
    if hollow:
        colours = f'class="page outline" fill="{_light("page")}" stroke="{_light("outline")}" stroke-width="1.5"'
    else:
        colours = f'class="row" fill="{_light("row")}"'
    return f'<circle {colours} cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def _text(x: float, y: float, text: str, name: str, anchor: str = "start", size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text class="{name}" {place} fill="{_light(name)}">{escape(text)}</text>'


def _stroke(name: str, x1: float, y1: float, x2: float, y2: float, width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{name}" {ends} stroke="{_light(name)}" stroke-width="{width}"/>'


def _light(name: str) -> str:
    return _COLOURS[name][1]


def _clock(time: int) -> str:
    return f"{_EPOCH + timedelta(microseconds=time):%H:%M}"
