"""muntin run and muntin explain."""

from __future__ import annotations

from typing import Any

import click

from muntin.cli.failures import all_errors_as_messages
from muntin.cli.plans import FORMATS, print_form
from muntin.cli.queries.logs import logged
from muntin.cli.queries.options import Explain, Run, asked_options, run_options


@click.command("run", short_help="Run the SQL statements of a file together.")
@run_options
def run_command(**given: Any) -> None:
    """Run the SQL statements of FILE together, and write or print their results.

    Use - as FILE for standard input. Ctrl-C stops a stream; the same command resumes it.

    \b
    muntin run queries.sql --input events=events.parquet
    muntin run queries.sql --input events=events/ --output out/ --format csv
    muntin run queries.sql --input events=arriving/ --output out/ --stream
    """  # noqa: D301 - click wants the character itself
    asked = Run(**given)
    with logged(asked.verbose), all_errors_as_messages(asked.debug):
        from muntin.cli.queries.running import run

        run(asked)


@click.command("explain", short_help="Print the plan for the SQL statements of a file.")
@asked_options
@click.option("--format", "form", default="text", show_default=True, type=click.Choice(list(FORMATS)))
def explain_command(**given: Any) -> None:
    """Print the plan for the SQL statements of FILE: what they share, and what each of them costs."""
    asked = Explain(**given)
    with logged(asked.verbose), all_errors_as_messages(asked.debug):
        from muntin.cli.queries.work import explain

        told = explain(asked)
        if asked.form == "text":
            from rich.console import Console

            from muntin.cli.terminal import print_plan

            print_plan(Console(), told)
        else:
            print_form(told, asked.form)
