"""Figures of the report, drawn from result files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import matplotlib as mpl

from muntin.bench.record import Row
from muntin.bench.report.batch import GROWTH_FIGURE, PAPER, SPEEDUP_FIGURE
from muntin.bench.report.cutty import CUTTY_FIGURE, WORKLOADS, stored
from muntin.bench.report.cutty import NAMES as CUTTY_NAMES
from muntin.bench.report.kernels import THROUGHPUT_FIGURE
from muntin.bench.report.pages import PLANNING_FIGURE
from muntin.bench.report.queries import NAMES as QUERIES_NAMES
from muntin.bench.report.queries import QUERIES_FIGURE
from muntin.bench.report.queries import ratio as queries_ratio
from muntin.bench.report.rolling import NAMES, ROLLING_FIGURE
from muntin.bench.report.stream import NAMES as STREAM_NAMES
from muntin.bench.report.stream import STREAM_FIGURE
from muntin.bench.report.subsume import METHODS as SUBSUME_METHODS
from muntin.bench.report.subsume import SUBSUME_FIGURE
from muntin.bench.report.weave import PARAMETERS, WEAVE_FIGURE
from muntin.techniques import TECHNIQUES

mpl.use("Agg")
from matplotlib.figure import Figure

mpl.rcParams["svg.hashsalt"] = "muntin"  # the same figure is the same file

COLORS = ("#3a6ea5", "#b7791f", "#8797a8", "#6b8e23", "#a5483a", "#6a4c93", "#2a9d8f", "#444444")


def speedup_figure(result: Row, path: Path) -> None:
    """Draw the mean ratio of plain Spark to Muntin beside the paper's, by window set."""
    rows = result["rows"]
    labels = [f"{row['count']} {'tumbling' if row['tumbling'] else 'hopping'}\n{row['family']}" for row in rows]
    places = range(len(rows))
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    means = [row["ratios"]["auto"]["mean"] for row in rows]
    axes.bar([x - 0.2 for x in places], means, 0.4, color="#3a6ea5", label="Muntin on Spark, auto (measured here)")
    paper = [PAPER[row["family"][0], row["count"], row["tumbling"]][0] for row in rows]
    axes.bar([x + 0.2 for x in places], paper, 0.4, color="#c9b38c", label="factor windows, as the paper printed")
    axes.axhline(1, color="#555555", linewidth=0.8)
    axes.set(ylabel="times faster than without sharing (mean)")
    axes.set_xticks(list(places), labels, rotation=60, fontsize=7)
    axes.legend(fontsize=8)
    _save(figure, path)


def growth_figure(result: Row, path: Path) -> None:
    """Draw time against events, windows and keys, both on logarithmic scales."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, axis in zip(figure.subplots(1, 3), ("events", "windows", "keys"), strict=True):
        rows = sorted((row for row in result["rows"] if row["axis"] == axis), key=lambda row: row[axis])
        for name, color in (("plain", "#8797a8"), ("native", "#b7791f"), ("auto", "#3a6ea5")):
            points = [(row[axis], row["seconds"][name]) for row in rows if name in row["seconds"]]
            axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=name)
        axes.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(fontsize=8)
    _save(figure, path)


def planning_figure(result: Row, path: Path) -> None:
    """Draw planning time against the number of windows, both on logarithmic scales."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for aggregate, style in (("min", "-"), ("sum", "--")):
        for algorithm, color in (("shared", "#8797a8"), ("factor", "#b7791f"), ("best", "#3a6ea5")):
            rows = [row for row in result["rows"] if row["aggregate"] == aggregate and row["algorithm"] == algorithm]
            rows = [row for row in rows if "tumbling" not in row["family"]]
            counts, times = [row["count"] for row in rows], [row["median_ms"] for row in rows]
            axes.plot(counts, times, style, color=color, marker="o", markersize=3, label=f"{algorithm}, {aggregate}")
    axes.set(xscale="log", yscale="log", xlabel="windows", ylabel="planning time, ms (median)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    _save(figure, path)


def kernels_figure(result: Row, path: Path) -> None:
    """Draw throughput against the size of the range, for one range and for many, and what is held."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    panels = figure.subplots(2, 3)
    for line, operation in zip(panels, ("sum", "max"), strict=True):
        for axes, (setting, value, label) in zip(
            line,
            (
                ("one range", "per_second", "slides per second, one range"),
                ("many ranges", "answers_per_second", "answers per second, ranges 1 to n"),
                ("one range", "held", "partials and pointers held"),
            ),
            strict=True,
        ):
            for color, name in zip(COLORS, TECHNIQUES, strict=True):
                rows = [row for row in result["rows"] if (row["setting"], row["operation"]) == (setting, operation)]
                points = [(row["size"], row[value]) for row in rows if row["technique"] == name]
                if points:
                    axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=2, label=name)
            axes.set(xscale="log", yscale="log", xlabel="partials in the range", title=f"{operation}: {label}")
            axes.title.set_fontsize(9)
            axes.grid(visible=True, which="major", alpha=0.3)
        line[0].legend(fontsize=7)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def weave_figure(result: Row, path: Path) -> None:
    """Draw plan cost by experiment and technique, for WeaveShare and TriWeave."""
    rows = [row for row in result["rows"] if row["part"] == "experiment"]
    numbers = sorted({row["experiment"] for row in rows})
    figure = Figure(figsize=(9, 3 * len(numbers)), layout="constrained")
    grid = figure.subplots(len(numbers), 2, squeeze=False, sharey="row")
    for number, line in zip(numbers, grid, strict=True):
        for axes, algorithm in zip(line, ("weave_share", "tri_weave"), strict=True):
            shown = [row for row in rows if (row["experiment"], row["algorithm"]) == (number, algorithm)]
            for technique, color in zip(dict.fromkeys(row["technique"] for row in shown), COLORS, strict=False):
                points = [(row["value"], row["cost"]) for row in shown if row["technique"] == technique]
                axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=technique)
            parameter = shown[0]["parameter"]
            axes.set(yscale="log", xlabel=PARAMETERS[parameter], ylabel="operations per unit")
            axes.set_xscale("linear" if parameter == "skew" else "log")
            axes.set_title(f"experiment {number}, {algorithm}", fontsize=9)
            axes.grid(visible=True, which="major", alpha=0.3)
            axes.legend(fontsize=6)
    _save(figure, path)


def rolling_figure(result: Row, path: Path) -> None:
    """Draw time against the rows of a frame, both on logarithmic scales."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in result["rows"] if row["part"] == "frames"]
    for (name, label), color in zip(NAMES.items(), ("#8797a8", "#b7791f", "#3a6ea5"), strict=True):
        points = [(row["frame"], row["seconds"][name]) for row in rows if name in row["seconds"]]
        axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows of a frame", ylabel="seconds (median)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    _save(figure, path)


def stream_figure(result: Row, path: Path) -> None:
    """Draw events per second against the number of tumbling windows, on dense and on sparse streams."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2), ("dense", "sparse"), strict=True):
        rows = [
            row for row in result["rows"] if row["setting"].startswith(kind) and row["setting"].endswith("tumbling")
        ]
        for color, (name, label) in zip(COLORS, STREAM_NAMES.items(), strict=False):
            points = [
                (row["windows"], row["contenders"][name]["events_per_second"])
                for row in rows
                if name in row["contenders"]
            ]
            if points:
                axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=label)
        axes.set(yscale="log", xlabel="tumbling windows", ylabel="events per second", title=f"{kind} stream")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(fontsize=7)
    _save(figure, path)


def cutty_figure(result: Row, path: Path) -> None:
    """Draw combinations in the store, slices held and rows per second against the number of queries."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    values: tuple[tuple[str, Callable[[Row], int]], ...] = (
        ("combinations in the store", stored),
        ("slices held at most", lambda row: int(row["held"])),
        ("rows per second", lambda row: int(row["rows_per_second"])),
    )
    for line, (workload, title) in zip(figure.subplots(2, 3), WORKLOADS.items(), strict=True):
        for axes, (label, value) in zip(line, values, strict=True):
            for color, (way, name) in zip(COLORS, CUTTY_NAMES.items(), strict=False):
                rows = [row for row in result["rows"] if (row["workload"], row["way"]) == (workload, way)]
                points = [(row["queries"], value(row)) for row in rows if value(row)]
                if points:
                    axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=2, label=name)
            axes.set(yscale="log", xlabel="queries", title=f"{title}: {label}")
            axes.title.set_fontsize(9)
            axes.grid(visible=True, which="major", alpha=0.3)
        line[2].legend(fontsize=7)
    _save(figure, path)


def subsume_figure(result: Row, path: Path) -> None:
    """Draw groups, time to build them and time kept against the number of windows."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    values: tuple[tuple[str, str, Callable[[Row], float]], ...] = (
        ("groups, mean", "linear", lambda row: fmean(row["groups"])),
        ("milliseconds to build, median", "log", lambda row: float(row["build_ms"])),
        ("units of time kept, mean", "log", lambda row: fmean(row["kept"])),
    )
    panels = figure.subplots(1, len(values))
    for color, name in zip(COLORS, dict.fromkeys(row["class"] for row in result["rows"]), strict=False):
        for style, method in zip(("--", "-", ":"), SUBSUME_METHODS, strict=True):
            rows = [row for row in result["rows"] if (row["class"], row["method"]) == (name, method)]
            counts = [row["windows"] for row in rows]
            for axes, (_, _, value) in zip(panels, values, strict=True):
                axes.plot(counts, list(map(value, rows)), style, color=color, marker="o", markersize=2)
            panels[-1].plot([], [], style, color=color, label=f"{name}, {method}")
        alone = [fmean(row["alone"]) for row in rows]
        panels[-1].plot(counts, alone, "-.", color=color, label=f"{name}, each query alone")
    for axes, (label, scale, _) in zip(panels, values, strict=True):
        axes.set(xscale="log", yscale=scale, xlabel="windows", title=label)
        axes.title.set_fontsize(9)
        axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=7)
    _save(figure, path)


def queries_figure(result: Row, path: Path) -> None:
    """Draw the throughput of all queries, and how many times as fast as plain Spark they are, against their number."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    throughput, faster = figure.subplots(1, 2)
    for style, seed in zip(("-", "--", ":"), dict.fromkeys(row["seed"] for row in result["rows"]), strict=False):
        rows = [row for row in result["rows"] if row["seed"] == seed]
        for color, (name, label) in zip(COLORS, QUERIES_NAMES.items(), strict=False):
            measured = [row for row in rows if name in row["seconds"]]
            points = [(row["queries"], row["queries"] * row["events"] / row["seconds"][name]) for row in measured]
            throughput.plot(*zip(*points, strict=True), style, color=color, marker="o", label=f"{label}, seed {seed}")
        faster.plot(
            [row["queries"] for row in rows], list(map(queries_ratio, rows)), style, color=COLORS[2], marker="o"
        )
    throughput.set(xscale="log", yscale="log", xlabel="queries", ylabel="events per second, for each query")
    faster.set(xscale="log", xlabel="queries", ylabel="plain Spark / mt.evaluate")
    faster.axhline(1, color="#555555", linewidth=0.8)
    for axes in (throughput, faster):
        axes.grid(visible=True, which="major", alpha=0.3)
    throughput.legend(fontsize=7)
    _save(figure, path)


FIGURES = {
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
