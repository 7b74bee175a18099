"""Figures of the report, drawn from result files."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from muntin.bench.record import Row

mpl.use("Agg")
from matplotlib.figure import Figure


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
