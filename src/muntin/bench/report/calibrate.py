"""The section of docs/benchmarks.md on the prices of the cost model."""

from __future__ import annotations

from itertools import groupby

from muntin.bench.record import Row
from muntin.bench.report.tables import table


def calibrate_section(result: Row) -> str:
    """Write the prices, how well they explain the times of all trials, and how many trials there were."""
    *trials, solution = result["rows"]
    counts = [f"{len(list(part))} of {name} plans" for name, part in groupby(trials, key=lambda row: row["part"])]
    errors = solution["errors"]
    rows = [[f"`{name}`", f"{price:g}"] for name, price in solution["prices"].items()]
    return "\n\n".join(
        [
            "## Prices of the cost model",
            f"Least squares of relative errors over {len(trials)} trials ({', '.join(counts)}), each a query in one "
            "shape, with its units of work and its time. What each price means stands in `plan/physical/prices.py`. "
            f"The median error of an estimate is {errors['after']['median']:.0%}, the worst "
            f"{errors['after']['worst']:.0%}; with the prices before the run they were "
            f"{errors['before']['median']:.0%} and {errors['before']['worst']:.0%}.",
            table(["price", "core-microseconds"], rows),
        ]
    )
