"""Figures of the report, drawn from result files."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from muntin.bench.record import Row
from muntin.bench.report import PLANNING_FIGURE
from muntin.bench.report_batch import GROWTH_FIGURE, PAPER, SPEEDUP_FIGURE
from muntin.bench.report_rolling import NAMES, ROLLING_FIGURE

mpl.use("Agg")
from matplotlib.figure import Figure


def speedup_figure(result: Row, path: Path) -> None:
    """Draw the mean ratio of plain Spark to Muntin beside the paper's, by window set."""
    mpl.rcParams["svg.hashsalt"] = "muntin"
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def growth_figure(result: Row, path: Path) -> None:
    """Draw time against events, windows and keys, both on logarithmic scales."""
    mpl.rcParams["svg.hashsalt"] = "muntin"
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, axis in zip(figure.subplots(1, 3), ("events", "windows", "keys"), strict=True):
        rows = sorted((row for row in result["rows"] if row["axis"] == axis), key=lambda row: row[axis])
        for name, color in (("plain", "#8797a8"), ("native", "#b7791f"), ("auto", "#3a6ea5")):
            points = [(row[axis], row["seconds"][name]) for row in rows if name in row["seconds"]]
            axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=name)
        axes.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def planning_figure(result: Row, path: Path) -> None:
    """Draw planning time against the number of windows, both on logarithmic scales."""
    mpl.rcParams["svg.hashsalt"] = "muntin"
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def rolling_figure(result: Row, path: Path) -> None:
    """Draw time against the rows of a frame, both on logarithmic scales."""
    mpl.rcParams["svg.hashsalt"] = "muntin"
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in result["rows"] if row["part"] == "frames"]
    for (name, label), color in zip(NAMES.items(), ("#8797a8", "#b7791f", "#3a6ea5"), strict=True):
        points = [(row["frame"], row["seconds"][name]) for row in rows if name in row["seconds"]]
        axes.plot(*zip(*points, strict=True), color=color, marker="o", markersize=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows of a frame", ylabel="seconds (median)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


FIGURES = {
    "planning": (planning_figure, PLANNING_FIGURE),
    "batch-paper-10m": (speedup_figure, SPEEDUP_FIGURE),
    "batch-growth": (growth_figure, GROWTH_FIGURE),
    "rolling": (rolling_figure, ROLLING_FIGURE),
}
"""How each result file is drawn, and where to."""
