"""The section of docs/benchmarks.md on subsumption groups."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from muntin_bench.record import Row
from muntin_bench.report.tables import table

SUBSUME_FIGURE = Path("images/subsume.svg")

METHODS = ("heuristic", "exact", "one by one")


def subsume_section(result: Row) -> str:
    """Write the section: groups, times, and what is kept."""
    cases: dict[tuple[str, int], dict[str, Row]] = {}
    for row in result["rows"]:
        cases.setdefault((row["class"], row["windows"]), {})[row["method"]] = row
    return "\n\n".join(
        [
            "## Subsumption groups",
            "The workloads are those of the subsumption paper. Slides go up to 10 (smooth), 20 (medium) and 30 "
            "(abrupt). Ranges are longer than the slide and go up to 60. All windows end at multiples of their slides. "
            "There are only 545, 990 and 1,335 different windows, so larger sets repeat most of them, and the number "
            "of groups falls: where all ranges come with slide 1, one group has them all.",
            f"![Groups, time to build them and time kept, by number of windows]({SUBSUME_FIGURE})",
            "The number of groups (the paper's Figure 10) of each of three sets: by the paper's heuristic, repaired; "
            "by the exact method; and if windows are embedded one by one as they were drawn.",
            table(["class", "windows", "different, mean", *METHODS], map(_groups, cases.values())),
            "Median time to put the windows into groups, to revoke one window, and to embed it again:",
            table(
                [
                    "class",
                    "windows",
                    *(f"{method}, ms" for method in METHODS),
                    *(f"{change}, {method}, µs" for method in METHODS[:2] for change in ("revoke", "embed")),
                ],
                map(_times, cases.values()),
            ),
            "The longest stretch of time whose rows are kept, in thousands of units, mean over the sets: with a state "
            "for every query, for every different window, and for every group. It is computed from ranges and slides. "
            "The paper's Figure 11 measures the memory of such states, and its Figure 12 the time to aggregate over "
            "them. Neither is repeated here, because nothing in Muntin runs on groups.",
            table(
                ["class", "windows", "every query", "different windows", "heuristic", "exact", "first / last"],
                map(_kept, cases.values()),
            ),
        ]
    )


def _groups(rows: dict[str, Row]) -> list[str]:
    first = rows["exact"]
    counts = [", ".join(map(str, rows[method]["groups"])) for method in METHODS]
    return [first["class"], f"{first['windows']:,}", f"{fmean(first['distinct']):,.0f}", *counts]


def _times(rows: dict[str, Row]) -> list[str]:
    first = rows["exact"]
    built = [f"{rows[method]['build_ms']:.1f}" for method in METHODS]
    changes = [f"{rows[method][change]:.0f}" for method in METHODS[:2] for change in ("revoke_us", "embed_us")]
    return [first["class"], f"{first['windows']:,}", *built, *changes]


def _kept(rows: dict[str, Row]) -> list[str]:
    first = rows["exact"]
    lengths = [first["alone"], first["distinct_alone"], rows["heuristic"]["kept"], first["kept"]]
    means = [fmean(length) for length in lengths]
    shown = [f"{mean / 1000:,.2f}" for mean in means]
    return [first["class"], f"{first['windows']:,}", *shown, f"{means[0] / means[-1]:,.0f}"]
