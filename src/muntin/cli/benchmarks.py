"""muntin bench: the commands of the package muntin_bench, which is not in the wheel."""

from __future__ import annotations

import click

from muntin.cli.help import Commands

MISSING = (
    "The benchmarks are not installed: they live in benchmarks/ of the repository, https://github.com/muntin/muntin, "
    "and `pip install --editable benchmarks` in a checkout adds them."
)


class Experiments(Commands):
    """The commands of muntin_bench, which is imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names of all experiments."""
        return _experiments().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return an experiment by its name."""
        return _experiments().get_command(ctx, cmd_name)


@click.group("bench", cls=Experiments)
def bench() -> None:
    """Repeat an experiment and write its result file."""


def _experiments() -> click.Group:
    """Return the commands of muntin_bench, or fail and say where it lives."""
    try:
        from muntin_bench.commands import bench as experiments
    except ModuleNotFoundError as error:
        if error.name != "muntin_bench":
            raise
        raise click.ClickException(MISSING) from error
    return experiments
