"""How commands are listed: in the order in which people meet them, and none of them cut."""

from __future__ import annotations

import click

WIDEST = 120
"""Columns of a terminal that help makes use of."""
LONG = 1000


class Commands(click.Group):
    """Commands in the order of their addition, each with its first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names of all commands."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for every command; click would end long ones with dots."""
        with formatter.section("Commands"):
            commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
            formatter.write_dl([(name, command.get_short_help_str(LONG)) for name, command in commands if command])
