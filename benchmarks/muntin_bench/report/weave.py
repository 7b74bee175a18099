"""The section of docs/benchmarks.md on many queries in trees."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from statistics import fmean

from muntin_bench.record import Row
from muntin_bench.report.tables import table

WEAVE_FIGURE = Path("images/weave.svg")

PAPER_TREES = {
    "panes": "16.0",
    "flatfat": "15.7",
    "flatfit": "10.3",
    "slickdeque_inv": "4.8",
    "slickdeque_non_inv": "4.8",
}
"""Mean trees in a plan, as the paper printed them; one number for both forms of SlickDeque."""

PAPER_RATIOS = {1: 5_000, 2: 4_300, 3: 270_000, 4: 3_000, 5: 4_200}
"""How many times cheaper than panes SlickDeque gets in each of the paper's experiments, at most."""

PARAMETERS = {
    "queries": "queries",
    "longest_slide": "longest slide",
    "most_slides": "most slides in a range",
    "rate": "events per unit",
    "skew": "skew of slides",
}


def weave_section(result: Row) -> str:
    """Write the section: costs by experiment, trees, planning time, and counting edges."""
    parts = {part: [row for row in result["rows"] if row["part"] == part] for part in _PARTS}
    return "\n\n".join(
        [
            "## Many queries in trees",
            "Costs follow the model of the incremental-evaluation paper, in operations per unit of time, on its "
            "workload: slides divide the longest slide, and a range is a random number of slides. Each experiment "
            "varies one parameter. The others are 100 queries, slides up to 1000, up to 10,000 slides in a range, one "
            f"event per unit, and no skew. {_sets(parts['experiment'])} Operations are counted as the paper prints "
            "them.",
            f"![Plan cost by experiment and technique]({WEAVE_FIGURE})",
            *(text for part, write in _PARTS.items() if parts[part] for text in write(parts[part])),
        ]
    )


def _sets(rows: list[Row]) -> str:
    """Tell over how many sets means are taken."""
    runs = {row["runs"]: f"{row['value']:,} queries" for row in rows}
    most = max(runs)
    return (
        f"Means are over {most} sets" + "".join(f", over {few} of {of}" for few, of in runs.items() if few < most) + "."
    )


def _experiments(rows: list[Row]) -> list[str]:
    texts = []
    for number, group in groupby(rows, key=lambda row: row["experiment"]):
        runs = list(group)
        values = list(dict.fromkeys(row["value"] for row in runs))
        costs = {(row["technique"], row["algorithm"], row["value"]): row["cost"] for row in runs}
        cells = [
            [
                technique,
                *(
                    " / ".join(
                        _short(costs[technique, name, value])
                        for name in ("no_share", "max_share", "weave_share", "tri_weave")
                    )
                    for value in values
                ),
            ]
            for technique in dict.fromkeys(row["technique"] for row in runs)
        ]
        head = [f"{PARAMETERS[runs[0]['parameter']]}", *(f"{value:,g}" for value in values)]
        texts += [
            f"Experiment {number}: cost without sharing / in one tree / by WeaveShare / by TriWeave.",
            table(head, cells),
        ]
    return [*texts, *_claims(rows), *_trees(rows), *_planning(rows)]


def _claims(rows: list[Row]) -> list[str]:
    cells = []
    for number in sorted({row["experiment"] for row in rows}):
        costs = {(r["technique"], r["algorithm"], r["value"]): r["cost"] for r in rows if r["experiment"] == number}
        ratios = [
            costs["panes", algorithm, value]
            / min(costs["slickdeque_inv", algorithm, value], costs["slickdeque_non_inv", algorithm, value])
            for technique, algorithm, value in costs
            if technique == "panes" and algorithm in ("weave_share", "tri_weave")
        ]
        apart = [
            abs(cost / costs[technique, "weave_share", value] - 1)
            for (technique, algorithm, value), cost in costs.items()
            if algorithm == "tri_weave"
        ]
        cells.append(
            [
                number,
                f"{max(ratios):,.0f}",
                f"{PAPER_RATIOS[number]:,}",
                f"{100 * fmean(apart):.1f} %",
                f"{100 * max(apart):.1f} %",
            ]
        )
    head = ["experiment", "panes / SlickDeque, most", "in the paper", "TriWeave from WeaveShare, mean", "most"]
    return [
        "The paper says how much cheaper than panes SlickDeque gets, and that both optimizers are within 5 %. Here:",
        table(head, cells),
    ]


def _trees(rows: list[Row]) -> list[str]:
    def mean(technique: str, algorithm: str, usual: bool) -> str:
        chosen = [row for row in rows if (row["technique"], row["algorithm"]) == (technique, algorithm)]
        chosen = [row for row in chosen if not usual or _is_usual(row)]
        return f"{fmean(row['trees'] for row in chosen):.1f}" if chosen else "–"

    cells = [
        [
            technique,
            *(mean(technique, name, usual) for usual in (True, False) for name in ("weave_share", "tri_weave")),
            paper,
        ]
        for technique, paper in PAPER_TREES.items()
    ]
    head = [
        "technique",
        "WeaveShare, 100 queries",
        "TriWeave, 100 queries",
        "WeaveShare, all runs",
        "TriWeave, all runs",
    ]
    return ["Trees in a plan:", table([*head, "paper, all runs"], cells)]


def _is_usual(row: Row) -> bool:
    return bool(row["experiment"] == 1 and row["value"] == 100)


def _planning(rows: list[Row]) -> list[str]:
    first = [row for row in rows if row["experiment"] == 1 and row["algorithm"] in ("weave_share", "tri_weave")]
    values = list(dict.fromkeys(row["value"] for row in first))
    times = {(row["technique"], row["algorithm"], row["value"]): row["seconds"] for row in first}
    cells = [
        [f"{technique}, {algorithm}", *(_time(times[technique, algorithm, value]) for value in values)]
        for technique, algorithm in dict.fromkeys((row["technique"], row["algorithm"]) for row in first)
    ]
    return [
        "Core-seconds to plan, mean / most:",
        table(["queries", *(f"{value:,g}" for value in values)], cells),
    ]


def _variants(rows: list[Row]) -> list[str]:
    names = dict.fromkeys((row["algorithm"], row["form"]) for row in rows)
    by_name = {(row["technique"], row["algorithm"], row["form"]): row for row in rows}
    cells = [
        [
            technique,
            *(f"{_short(row['cost'])} ({row['trees']:.1f})" for name in names for row in [by_name[technique, *name]]),
        ]
        for technique in dict.fromkeys(row["technique"] for row in rows)
    ]
    head = ["technique", *(f"{algorithm}, {form}" for algorithm, form in names)]
    return [
        "Cost and, in brackets, trees for 100 queries: the algorithms as printed and as repaired, and TriWeave's other "
        "reading.",
        table(head, cells),
    ]


def _starts(rows: list[Row]) -> list[str]:
    cells = [[row["technique"], *(f"{row[name]:.4f}" for name in ("mean", "min", "max"))] for row in rows]
    return [
        "From 20,000 windows on, windows with equal edges start in one tree. The table divides the cost of that start "
        "by the cost if each window starts alone, for 1000 queries.",
        table(["technique", "mean", "least", "most"], cells),
    ]


def _counting(rows: list[Row]) -> list[str]:
    def time(seconds: float | None) -> str:
        return "–" if seconds is None else f"{1000 * seconds:,.3f}"

    cells = [
        [row["family"], f"{row['queries']:,}", row["grids"], time(row["marking_seconds"]), time(row["formula_seconds"])]
        for row in rows
    ]
    both = [row for row in rows if row["marking_seconds"] is not None]
    most = max(row["marking_seconds"] / row["formula_seconds"] for row in both)
    same = sum(row["equal"] for row in both)
    return [
        "Core-milliseconds to count the edges of queries with random slides. A dash means that the composite slide is "
        "longer than 300 million, or that marking took longer than three seconds for fewer queries.",
        table(["slides", "queries", "slides that count", "marking", "Formula F1"], cells),
        f"Formula F1 is up to {most:,.0f} times as fast as marking, and counts the same in {same} of {len(both)} cases "
        "that both manage. The paper says up to 60,000 times, and 1,000,000 queries where marking manages 550.",
    ]


def _many(rows: list[Row]) -> list[str]:
    cells = [
        [row["technique"], f"{row['seconds']['mean']:.1f}", f"{row['trees']:.0f}", _short(row["cost"])] for row in rows
    ]
    return [
        f"{rows[0]['queries']:,} queries with {rows[0]['distinct']:,} distinct windows by WeaveShare, repaired forms:",
        table(["technique", "core-seconds to plan", "trees", "cost"], cells),
    ]


_PARTS = {"experiment": _experiments, "variant": _variants, "start": _starts, "counting": _counting, "many": _many}


def _short(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 1000 else f"{cost:.3g}"


def _time(seconds: Row) -> str:
    return f"{seconds['mean']:.3f} / {seconds['max']:.3f}"
