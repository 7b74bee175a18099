"""docs/benchmarks.md, made of the result files and nothing else."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from muntin_bench.experiments.planning import growth
from muntin_bench.record import Row, load
from muntin_bench.report.age import read_changes, tell_age
from muntin_bench.report.batch import BATCH
from muntin_bench.report.calibrate import calibrate_section
from muntin_bench.report.cutty import cutty_section
from muntin_bench.report.distinct_stream import distinct_stream_section
from muntin_bench.report.flink import flink_section, latency_section
from muntin_bench.report.join import join_section
from muntin_bench.report.kernels import kernels_section, woven_section
from muntin_bench.report.queries import queries_section
from muntin_bench.report.rolling import ROLLING
from muntin_bench.report.stream import soak_section, stream_section
from muntin_bench.report.subsume import subsume_section
from muntin_bench.report.tables import table
from muntin_bench.report.weave import weave_section

PLANNING_FIGURE = Path("images/planning.svg")


def report(results: Path) -> str:
    """Write all sections whose result file is there."""
    sections = {
        **BATCH,
        **ROLLING,
        "join": join_section,
        "queries": queries_section,
        "stream": stream_section,
        "distinct-stream": distinct_stream_section,
        "stream-flink": flink_section,
        "stream-latency": latency_section,
        "soak": soak_section,
        "calibrate": calibrate_section,
        "kernels": kernels_section,
        "cutty": cutty_section,
        "model": _model,
        "quality": _quality,
        "planning": _planning,
        "weave": weave_section,
        "woven": woven_section,
        "subsume": subsume_section,
    }
    changes = read_changes(results)
    parts = [
        "# Benchmarks",
        "`muntin bench report` writes this page from the files in `benchmarks/results/`. Each section names the "
        "command that measures it again, and ends with the machine and the versions. On Spark, runs alternate between "
        "contenders; a time covers computing all rows, which are then discarded. *Plain* is the plan that a Spark user "
        "writes by hand; *auto* is Muntin with its default strategy. A dash means that the case was not run.",
        "All events are generated. Three of the five papers measure on DEBS 2012 sensor data and one on LBL-CONN-7, "
        "which are not used here.",
        "Sections are measured one at a time, so each says how many commits to the measured code had followed its "
        "measurement when this page was written"
        + (f", at commit {changes['at']}" if changes["at"] else "")
        + ". The more there are, the less the section says about the present code.",
    ]
    for name, section in sections.items():
        path = results / f"{name}.json"
        if path.exists():
            result = load(path)
            heading, _, text = section(result).partition("\n\n")
            parts += [heading, f"{_command(result)} {tell_age(result, changes['commits'])}", text, _footer(result)]
    return "\n\n".join(parts) + "\n"


def _model(result: Row) -> str:
    rows = [
        [
            f"{row['family']}, {row['count']} {'tumbling' if row['tumbling'] else 'hopping'}",
            row["sets"],
            *(
                f"{row[algorithm]['mean']:.2f} / {row[algorithm]['max']:.2f}"
                for algorithm in ("shared", "factor", "best")
            ),
        ]
        for row in result["rows"]
    ]
    return "\n\n".join(
        [
            "## Model cost on the paper's window sets",
            "The table divides the cost of evaluating each window alone by the cost of the plan, and gives mean / max "
            "over the sets. The aggregate is MIN, with one event per unit of time, in the paper's unit model. "
            "This is what the optimizers promise, not what an engine delivers.",
            table(["window sets", "sets", "shared (Algorithm 1)", "factor (Algorithm 3)", "best"], rows),
        ]
    )


def _quality(result: Row) -> str:
    def cell(gap: Row, sets: int) -> str:
        return f"{gap['mean']:.4f} / {gap['max']:.4f} ({gap['optimal']}/{sets})"

    def label(row: Row) -> str:
        steady = ", steady" if row.get("horizon") else ""
        return f"{row['family']}, {row['aggregate']}, rate {row['rate']}{steady}"

    rows = [
        [label(row), *(cell(row[algorithm], row["sets"]) for algorithm in ("shared", "factor", "tumbling", "best"))]
        for row in result["rows"]
    ]
    return "\n\n".join(
        [
            "## Distance from the exact optimum",
            "The table divides the cost of each plan by the cost of the optimal plan. It gives mean / max over the "
            "sets and, in brackets, how many plans are optimal. Sets have five windows unless the row gives another "
            "number. Costs are counted over the paper's horizon, or in the steady state where the row says so. Plans "
            "for min use covered-by semantics, plans for sum use partitioned-by semantics. *best, tumbling* is best "
            "restricted to tumbling factor windows.",
            table(["window sets", "shared (Algorithm 1)", "factor (Algorithm 3)", "best, tumbling", "best"], rows),
        ]
    )


def _planning(result: Row) -> str:
    def key(row: Row) -> tuple[str, int, str]:
        return row["family"], row["count"], row["aggregate"]

    rows = []
    for (family, count, aggregate), group in groupby(result["rows"], key=key):
        times = {row["algorithm"]: f"{row['median_ms']:.2f} / {row['max_ms']:.2f}" for row in group}
        rows.append([f"{family}, {aggregate}", count, times["shared"], times["factor"], times["best"]])
    large = [row for row in result["rows"] if row["count"] >= 100 and row["algorithm"] == "best"]
    exponents = (
        {aggregate: growth([row for row in large if row["aggregate"] == aggregate]) for aggregate in ("min", "sum")}
        if large
        else {}
    )
    growing = " and ".join(f"N^{exponent:.1f} for {aggregate}" for aggregate, exponent in exponents.items())
    return "\n\n".join(
        [
            "## Planning time",
            "The table gives milliseconds to plan on one core, median / max over the sets and five rounds.",
            f"![Planning time against the number of windows, hopping and mixed sets]({PLANNING_FIGURE})",
            table(["window sets", "windows", "shared", "factor", "best"], rows),
            f"From {large[0]['count']} to {large[-1]['count']} windows, the time of best grows like {growing}."
            if large
            else "",
        ]
    ).strip()


def _command(result: Row) -> str:
    """Write the command of a run with its settings, and what its rounds mean."""
    settings = result["settings"]
    takes = ["rounds", "runs", "minutes", "events", "seconds", *(["sets"] if "sets" in result["rows"][0] else [])]
    given = [f"--{name} {settings[name]}" for name in takes if name in settings]
    command = f"`{' '.join([result['command'], *given])}`"
    match settings.get("rounds"):
        case None:
            return f"Command: {command}."
        case 1:
            return f"Command: {command}. One round: each time was measured once."
        case rounds:
            return f"Command: {command}. Times are medians of {rounds} rounds."


def _footer(result: Row) -> str:
    at = result["circumstances"]
    machine, versions = at["machine"], at["versions"]
    return (
        f"Measured on {at['date']}, on {machine['cores']} cores ({machine['processor']}), with "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + "."
        + "".join(f" {note}" for note in result["settings"].get("notes", ()))
    )
