"""The section of docs/benchmarks.md on the prices of the cost model."""

from __future__ import annotations

import ast
import inspect
from itertools import groupby, pairwise

from muntin.plan.physical import prices
from muntin_bench.record import Row
from muntin_bench.report.tables import table


def calibrate_section(result: Row) -> str:
    """Write the prices, how well they explain the times of all trials, and how many trials there were."""
    *trials, solution = result["rows"]
    counts = [f"{len(list(part))} of {name} plans" for name, part in groupby(trials, key=lambda row: row["part"])]
    errors = solution["errors"]
    told = meanings()
    rows = [
        [f"`{name}`", f"{price:,.3g}" if price < 1000 else f"{price:,.0f}", told[name]]
        for name, price in solution["prices"].items()
    ]
    return "\n\n".join(
        [
            "## Prices of the cost model",
            f"The prices come from {len(trials)} trials ({', '.join(counts)}). Each trial is a query in one shape, "
            "with its units of work and its time. The prices minimise the squared distance between the logarithms of "
            f"estimates and times. The median error of an estimate is {errors['after']['median']:.0%}, the worst "
            f"{errors['after']['worst']:.0%}. With the prices before this run, they were "
            f"{errors['before']['median']:.0%} and {errors['before']['worst']:.0%}.",
            table(["price", "core-µs", "for"], rows),
        ]
    )


def meanings() -> dict[str, str]:
    """Give what every price is for, as the text below its field says.

    >>> meanings()["scan"]
    'a row read'
    """
    (body,) = [node.body for node in ast.parse(inspect.getsource(prices.Prices)).body if isinstance(node, ast.ClassDef)]
    return {
        field.target.id: _lower(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def _lower(text: object) -> str:
    told = str(text).rstrip(".")
    return told[0].lower() + told[1:]
