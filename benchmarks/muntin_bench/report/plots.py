"""Figures of the report, drawn from result files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from muntin.techniques import TECHNIQUES
from muntin_bench.record import Row
from muntin_bench.report.batch import GROWTH_FIGURE, PAPER, SPEEDUP_FIGURE
from muntin_bench.report.cutty import CUTTY_FIGURE, WORKLOADS, stored
from muntin_bench.report.cutty import NAMES as CUTTY_NAMES
from muntin_bench.report.findings import (
    cutty_finding,
    growth_finding,
    kernels_finding,
    planning_finding,
    queries_finding,
    rolling_finding,
    speedup_finding,
    stream_finding,
    subsume_finding,
    told,
    weave_finding,
)
from muntin_bench.report.kernels import THROUGHPUT_FIGURE
from muntin_bench.report.pages import PLANNING_FIGURE
from muntin_bench.report.queries import NAMES as QUERIES_NAMES
from muntin_bench.report.queries import QUERIES_FIGURE
from muntin_bench.report.queries import ratio as queries_ratio
from muntin_bench.report.rolling import NAMES, ROLLING_FIGURE
from muntin_bench.report.stream import NAMES as STREAM_NAMES
from muntin_bench.report.stream import STREAM_FIGURE
from muntin_bench.report.style import (
    BROWN,
    FAINT,
    GREEN,
    GREY,
    INK,
    MUNTIN,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    SPARK,
    Lines,
    draw_lines,
    headline,
    log_ticks,
    name_ends,
    save,
    sheet,
)
from muntin_bench.report.subsume import METHODS as SUBSUME_METHODS
from muntin_bench.report.subsume import SUBSUME_FIGURE
from muntin_bench.report.weave import PARAMETERS, WEAVE_FIGURE

Points = list[tuple[float, float]]
Value = Callable[[Row], float]


def speedup_figure(result: Row, path: Path) -> None:
    """Draw the mean ratio of plain Spark to Muntin beside the paper's, a panel for every kind of window set."""
    figure = sheet(3.1)
    headline(figure, told(speedup_finding, result))
    kinds = list(dict.fromkeys((row["family"], row["tumbling"]) for row in result["rows"]))
    panels: Sequence[Axes] = figure.subplots(1, len(kinds), sharey=True)
    for axes, (family, tumbling) in zip(panels, kinds, strict=True):
        rows = [row for row in result["rows"] if (row["family"], row["tumbling"]) == (family, tumbling)]
        places = range(len(rows))
        means = [row["ratios"]["auto"]["mean"] for row in rows]
        paper = [PAPER[row["family"][0], row["count"], row["tumbling"]][0] for row in rows]
        bars = axes.bar([x - 0.16 for x in places], means, 0.5, color=MUNTIN)
        axes.bar_label(bars, [f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}" for mean in means], color=INK, fontsize=7)
        axes.bar([x + 0.24 for x in places], paper, 0.26, color=ORANGE)
        axes.axhline(1, color=FAINT, linewidth=0.8, marker="")
        axes.set_xticks(list(places), [str(row["count"]) for row in rows])
        axes.set(title=f"{family},\n{'tumbling' if tumbling else 'hopping'}", xlabel="windows")
        axes.grid(visible=False, axis="x")
    panels[0].yaxis.set_major_locator(MultipleLocator(2))
    panels[0].set_ylabel("times as fast")
    _key(
        panels[0],
        {
            "Muntin beside\nplain Spark, measured": MUNTIN,
            "the paper's engine\nbeside itself without\nsharing, as printed": ORANGE,
        },
    )
    save(figure, path)


def growth_figure(result: Row, path: Path) -> None:
    """Draw time against events, windows and keys, all on logarithmic scales."""
    names = {"plain": "plain Spark", "native": "Muntin, native", "auto": "Muntin, auto"}
    colors = dict(zip(names.values(), (SPARK, ORANGE, MUNTIN), strict=True))
    figure = sheet(3.1)
    headline(figure, told(growth_finding, result))
    parameters = ("events", "windows", "keys")
    panels: Sequence[Axes] = figure.subplots(1, 3, sharey=True)
    for axes, parameter in zip(panels, parameters, strict=True):
        first = next(row for row in result["rows"] if row["axis"] == parameter)
        others = [name for name in parameters if name != parameter]
        rows = [row for row in result["rows"] if all(row[name] == first[name] for name in others)]
        rows.sort(key=lambda row: row[parameter])
        lines = {
            label: [(row[parameter], row["seconds"][name]) for row in rows if name in row["seconds"]]
            for name, label in names.items()
        }
        draw_lines(axes, lines, colors)
        log_ticks(axes.xaxis, [row[parameter] for row in rows] if parameter != "keys" else None)
        log_ticks(axes.yaxis)
        axes.set(xlabel=parameter)
        axes.margins(y=0.1)
    panels[0].set(ylabel="seconds")
    name_ends(figure, panels[-1])
    save(figure, path)


def planning_figure(result: Row, path: Path) -> None:
    """Draw planning time against the number of windows, both on logarithmic scales."""
    colors = {"shared": GREY, "factor": ORANGE, "best": MUNTIN}
    figure = sheet(3.0)
    headline(figure, told(planning_finding, result))
    panels: Sequence[Axes] = figure.subplots(1, 2, sharey=True)
    titles = {"min": "min, under covered-by semantics", "sum": "sum, under partitioned-by semantics"}
    for axes, (aggregate, title) in zip(panels, titles.items(), strict=True):
        rows = [row for row in result["rows"] if row["aggregate"] == aggregate and "tumbling" not in row["family"]]
        lines = {
            algorithm: [(row["count"], row["median_ms"]) for row in rows if row["algorithm"] == algorithm]
            for algorithm in colors
        }
        draw_lines(axes, lines, colors)
        log_ticks(axes.xaxis)
        log_ticks(axes.yaxis)
        axes.set(xlabel="windows", title=title)
        name_ends(figure, axes)
    panels[0].set(ylabel="milliseconds to plan (median)")
    save(figure, path)


TECHNIQUE_COLORS = dict(zip(TECHNIQUES, (GREY, ORANGE, SKY, PURPLE, BROWN, GREEN, RED, MUNTIN), strict=True))


def kernels_figure(result: Row, path: Path) -> None:
    """Draw throughput against the size of the range, for one range and for many, and what is held."""
    measures = {
        "slides per second, one range": ("one range", "per_second"),
        "answers per second, all ranges of 1 to n": ("many ranges", "answers_per_second"),
        "partials and pointers held, one range": ("one range", "held"),
    }
    figure = sheet(6.6)
    headline(figure, told(kernels_finding, result))
    grid: Any = figure.subplots(len(measures), 2, sharey="row")
    for line, (label, (setting, value)) in zip(grid, measures.items(), strict=True):
        for axes, operation in zip(line, ("sum", "max"), strict=True):
            rows = [row for row in result["rows"] if (row["setting"], row["operation"]) == (setting, operation)]
            _draw_groups(axes, rows, "technique", "size", itemgetter(value), TECHNIQUE_COLORS)
            axes.set(title=f"{operation}: {label}")
        for axes in line:
            _both_log(axes, "partials in the range")
    for axes in grid.flat:
        name_ends(figure, axes, 7)
    save(figure, path)


def cutty_figure(result: Row, path: Path) -> None:
    """Draw combinations, slices held and rows per second against queries, for both workloads."""
    measures: dict[str, Value] = {
        "combinations in the store": stored,
        "slices held at most": lambda row: float(row["held"]),
        "rows per second": lambda row: float(row["rows_per_second"]),
    }
    colors = dict(zip(CUTTY_NAMES, (GREY, ORANGE, RED, BROWN, SKY, MUNTIN, GREEN), strict=True))
    figure = sheet(6.6)
    headline(figure, told(cutty_finding, result))
    grid: Any = figure.subplots(len(measures), len(WORKLOADS), sharey="row")
    for line, (label, value) in zip(grid, measures.items(), strict=True):
        for axes, (workload, title) in zip(line, WORKLOADS.items(), strict=True):
            rows = [row for row in result["rows"] if row["workload"] == workload and value(row)]
            _draw_groups(axes, rows, "way", "queries", value, colors, CUTTY_NAMES)
            axes.set(title=f"{title}: {label}", xlabel="queries")
        for axes in line:
            log_ticks(axes.yaxis)
    for axes in grid.flat:
        name_ends(figure, axes, 7)
    save(figure, path)


def weave_figure(result: Row, path: Path) -> None:
    """Draw plan cost by experiment and technique: dots and lines for WeaveShare, rings for TriWeave."""
    rows = [row for row in result["rows"] if row["part"] == "experiment"]
    numbers = sorted({row["experiment"] for row in rows})
    techniques = list(dict.fromkeys(row["technique"] for row in rows))
    colors = dict(zip(techniques, (GREY, ORANGE, PURPLE, GREEN, MUNTIN), strict=False))
    figure = sheet(3.4)
    headline(figure, told(weave_finding, result))
    panels: Sequence[Axes] = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for axes, number in zip(panels, numbers, strict=True):
        here = [row for row in rows if row["experiment"] == number]
        woven = {name: [row for row in here if row["algorithm"] == name] for name in ("weave_share", "tri_weave")}
        _draw_groups(axes, woven["weave_share"], "technique", "value", _cost, colors)
        for name, points in _grouped(woven["tri_weave"], "technique", "value", _cost).items():
            x, y = zip(*points, strict=True)
            axes.plot(x, y, "o", color=colors[name], fillstyle="none", markersize=6, label="_rings")
        parameter = here[0]["parameter"]
        if parameter != "skew":
            log_ticks(axes.xaxis, sorted({row["value"] for row in here})[::2])
        log_ticks(axes.yaxis)
        axes.set(xlabel=PARAMETERS[parameter].replace(" in a range", "\nin a range"), title=f"experiment {number}")
    panels[0].set(ylabel="operations per unit of time\n(dots: WeaveShare, rings: TriWeave)")
    name_ends(figure, panels[-1], 7)
    save(figure, path)


def rolling_figure(result: Row, path: Path) -> None:
    """Draw time against the rows of a frame."""
    figure = sheet(3.0)
    headline(figure, told(rolling_finding, result))
    axes = figure.subplots()
    rows = [row for row in result["rows"] if row["part"] == "frames"]
    lines = {
        label: [(row["frame"], row["seconds"][name]) for row in rows if name in row["seconds"]]
        for name, label in NAMES.items()
    }
    draw_lines(axes, lines, dict(zip(lines, (SPARK, ORANGE, MUNTIN), strict=True)))
    log_ticks(axes.xaxis)
    axes.set(xlabel="rows of a frame", ylabel="seconds (median)", ylim=(0, None))
    name_ends(figure, axes)
    save(figure, path)


def stream_figure(result: Row, path: Path) -> None:
    """Draw events per second against the number of tumbling windows, on dense and on sparse streams."""
    figure = sheet(3.4)
    headline(figure, told(stream_finding, result))
    colors = dict(zip(STREAM_NAMES, (SPARK, BROWN, GREEN, ORANGE, PURPLE, MUNTIN), strict=True))
    labels = {name: label if label.startswith("plain") else f"Muntin, {label}" for name, label in STREAM_NAMES.items()}
    panels: Sequence[Axes] = figure.subplots(1, 2, sharey=True)
    for axes, kind in zip(panels, ("dense", "sparse"), strict=True):
        rows = [
            row for row in result["rows"] if row["setting"].startswith(kind) and row["setting"].endswith("tumbling")
        ]
        lines = {
            name: [
                (row["windows"], row["contenders"][name]["events_per_second"])
                for row in rows
                if name in row["contenders"]
            ]
            for name in STREAM_NAMES
        }
        _draw_named(axes, lines, colors, labels)
        log_ticks(axes.xaxis, sorted({row["windows"] for row in rows}))
        log_ticks(axes.yaxis)
        axes.set(xlabel="tumbling windows", title=f"{kind} stream")
    panels[0].set(ylabel="events per second")
    for axes in panels:
        name_ends(figure, axes)
    save(figure, path)


def subsume_figure(result: Row, path: Path) -> None:
    """Draw groups, time to build them and time kept against the number of windows, a column for every class."""
    measures: dict[str, Value] = {
        "groups (mean)": lambda row: fmean(row["groups"]),
        "ms to build (median)": lambda row: float(row["build_ms"]),
        "units kept (mean)": lambda row: fmean(row["kept"]),
    }
    classes = list(dict.fromkeys(row["class"] for row in result["rows"]))
    colors = dict(zip(SUBSUME_METHODS, (ORANGE, MUNTIN, GREEN), strict=True)) | {"each query alone": SPARK}
    figure = sheet(6.0)
    headline(figure, told(subsume_finding, result))
    grid: Any = figure.subplots(len(measures), len(classes), sharex=True, sharey="row", squeeze=False)
    for line, (label, value) in zip(grid, measures.items(), strict=True):
        for axes, name in zip(line, classes, strict=True):
            rows = [row for row in result["rows"] if row["class"] == name]
            lines = _grouped(rows, "method", "windows", value)
            if "kept" in label:
                lines["each query alone"] = sorted({(row["windows"], fmean(row["alone"])) for row in rows})
            draw_lines(axes, {method: lines[method] for method in colors if method in lines}, colors)
        for axes in line:
            log_ticks(axes.xaxis, sorted({row["windows"] for row in result["rows"]}))
            log_ticks(axes.yaxis)
        line[0].set(ylabel=label)
    for axes, name in zip(grid[0], classes, strict=True):
        axes.set(title=name)
    for axes in grid[-1]:
        axes.set(xlabel="windows")
    for axes in grid[:, -1]:
        name_ends(figure, axes)
    save(figure, path)


def queries_figure(result: Row, path: Path) -> None:
    """Draw the throughput of all queries, and how many times as fast as plain Spark they are, against their number.

    Thin lines are the sets that were drawn, thick ones their geometric means.
    """
    figure = sheet(3.3)
    headline(figure, told(queries_finding, result))
    throughput, faster = figure.subplots(1, 2)
    colors = dict(zip(QUERIES_NAMES, (SPARK, ORANGE, MUNTIN), strict=True))
    for name, label in QUERIES_NAMES.items():
        rows = [row for row in result["rows"] if name in row["seconds"]]
        _draw_sets(throughput, rows, partial(_throughput, name=name), colors[name], label)
    _draw_sets(faster, result["rows"], queries_ratio, MUNTIN, "")
    faster.axhline(1, color=FAINT, linewidth=0.8, marker="")
    counts = sorted({row["queries"] for row in result["rows"]})
    for axes, title in ((throughput, "events × queries per second"), (faster, "times as fast as plain Spark")):
        log_ticks(axes.xaxis, counts)
        axes.set(xlabel="queries\n(thin: single sets, thick: their means)", title=title)
    log_ticks(throughput.yaxis)
    faster.set_ylim(bottom=0)
    name_ends(figure, throughput)
    save(figure, path)


def _throughput(row: Row, name: str) -> float:
    return float(row["queries"] * row["events"] / row["seconds"][name])


def _draw_sets(axes: Axes, rows: Sequence[Row], value: Value, color: str, label: str) -> None:
    """Draw a value against the number of queries, for every seed and on average."""
    for points in _grouped(rows, "seed", "queries", value).values():
        axes.plot(*zip(*points, strict=True), color=color, linewidth=0.7, alpha=0.5, marker="", label="_set")
    counts = sorted({row["queries"] for row in rows})
    means = [geometric_mean([value(row) for row in rows if row["queries"] == count]) for count in counts]
    axes.plot(counts, means, color=color, linewidth=2.2, label=label or "_mean")


def _cost(row: Row) -> float:
    return float(row["cost"])


def _grouped(rows: Sequence[Row], name: str, across: str, value: Value) -> dict[str, Points]:
    """Give the points of every line: a value against a parameter, by what the name tells."""
    lines: dict[str, Points] = {}
    for row in rows:
        lines.setdefault(row[name], []).append((row[across], value(row)))
    return lines


def _draw_groups(
    axes: Axes,
    rows: Sequence[Row],
    name: str,
    across: str,
    value: Value,
    colors: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
) -> None:
    lines = _grouped(rows, name, across, value)
    _draw_named(axes, {key: lines[key] for key in colors if key in lines}, colors, labels or {})


def _draw_named(axes: Axes, lines: Lines, colors: Mapping[str, str], labels: Mapping[str, str]) -> None:
    """Draw lines under the names that the document uses."""
    drawn = {labels.get(name, name): points for name, points in lines.items() if points}
    draw_lines(axes, drawn, {labels.get(name, name): colors[name] for name in lines})


def _both_log(axes: Axes, label: str) -> None:
    log_ticks(axes.xaxis)
    log_ticks(axes.yaxis)
    axes.set(xlabel=label)


def _key(axes: Axes, colors: Mapping[str, str]) -> None:
    """Write what colours mean into the upper left corner of a panel."""
    for place, (label, color) in enumerate(colors.items()):
        axes.text(0.04, 0.97 - 0.17 * place, label, color=color, transform=axes.transAxes, va="top", fontsize=8)


FIGURES: dict[str, tuple[Callable[[Row, Path], None], Path]] = {
    "queries": (queries_figure, QUERIES_FIGURE),
    "planning": (planning_figure, PLANNING_FIGURE),
    "batch-paper-10m": (speedup_figure, SPEEDUP_FIGURE),
    "batch-growth": (growth_figure, GROWTH_FIGURE),
    "kernels": (kernels_figure, THROUGHPUT_FIGURE),
    "cutty": (cutty_figure, CUTTY_FIGURE),
    "weave": (weave_figure, WEAVE_FIGURE),
    "subsume": (subsume_figure, SUBSUME_FIGURE),
    "rolling": (rolling_figure, ROLLING_FIGURE),
    "stream": (stream_figure, STREAM_FIGURE),
}
"""How each result file is drawn, and where to."""
