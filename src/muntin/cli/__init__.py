"""The muntin command: a thin shell over the API."""

from __future__ import annotations

import click

from muntin.cli.benchmarks import bench
from muntin.cli.demos import demo_command
from muntin.cli.help import WIDEST, Commands
from muntin.cli.plans import plan_command
from muntin.cli.queries.commands import explain_command, run_command
from muntin.cli.registries import state_command, windows
from muntin.version import __version__

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST})
@click.version_option(__version__, prog_name="muntin")
def main() -> None:
    """Evaluate many window aggregates over one event stream together."""


for command in (
    demo_command,
    run_command,
    explain_command,
    plan_command,
    windows,
    state_command,
    bench,
):
    main.add_command(command)
