"""muntin plan, which needs no Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from muntin.choices import Algorithm
from muntin.cli.failures import errors_as_messages
from muntin.plan import ALGORITHMS, plan
from muntin.plan.show.html import to_page
from muntin.safe_text import escape_controls, escape_json_controls

FORMATS: dict[str, Callable[[Any], str]] = {
    "text": lambda forest: forest.explain(),
    "json": lambda forest: forest.to_json(),
    "mermaid": lambda forest: forest.to_mermaid(),
    "html": to_page,
}


def print_form(text: str, form: str) -> None:
    """Print a plan in one of the formats, whatever characters its names have."""
    click.echo(escape_json_controls(text) if form == "json" else escape_controls(text, keep="\n\t"))


@click.command("plan", short_help="Print the plan for windows, without Spark.")
@click.argument("windows")
@click.option(
    "-a",
    "--aggregate",
    "aggregates",
    multiple=True,
    default=("min",),
    show_default=True,
    help="Aggregate function; repeat it for several.",
)
@click.option("--rate", default="1", show_default=True, help="Events per unit of time, or with a unit: '100/s'.")
@click.option("--algorithm", default="best", show_default=True, type=click.Choice(list(ALGORITHMS)))
@click.option("--horizon", help="Length over which costs are counted, or 'steady'.  [default: lcm of the ranges]")
@click.option("--format", "form", default="text", show_default=True, type=click.Choice(list(FORMATS)))
def plan_command(
    windows: str, aggregates: tuple[str, ...], rate: str, algorithm: Algorithm, horizon: str | None, form: str
) -> None:
    """Print the plan for WINDOWS, such as "20 minutes, 1 hour every 5 minutes, 1d/1h+30m"."""
    with errors_as_messages():
        forest = plan(windows, aggregates, rate, algorithm, horizon)
    print_form(FORMATS[form](forest), form)
