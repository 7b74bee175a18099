"""muntin windows and muntin state: a running query, from outside."""

from __future__ import annotations

import click

from muntin.cli.failures import all_errors_as_messages, errors_as_messages
from muntin.cli.help import Commands
from muntin.paths import existing, is_remote
from muntin.registry import WindowRegistry
from muntin.safe_text import escape_controls


@click.group("windows", cls=Commands, short_help="Add, remove and list the windows of a running query.")
def windows() -> None:
    """Add, remove and list the windows of a running query, which are kept in the folder REGISTRY.

    REGISTRY is a path, or a URL such as s3a://bucket/windows, which is read through fsspec.
    """


_registry = click.argument("registry")
_only_writer = click.option(
    "--only-writer",
    is_flag=True,
    help="Promise that nobody else writes; needed if the store cannot decide between writers.",
)


@windows.command("add")
@_registry
@click.argument("window")
@click.option("--id", help="The window_id of result rows.  [default: the lengths]")
@click.option("--since", help="No instance begins before this event time, such as 2024-05-01T12:00.")
@_only_writer
def windows_add(registry: str, window: str, id: str | None, since: str | None, only_writer: bool) -> None:
    """Add WINDOW, such as "1 hour every 5 minutes"; it starts with its next complete instance."""
    with errors_as_messages():
        _print(_opened(registry, only_writer).add(window, id, since))


@windows.command("remove")
@_registry
@click.argument("id")
@click.option("--until", help="No instance ends after this event time.  [default: the query's watermark]")
@_only_writer
def windows_remove(registry: str, id: str, until: str | None, only_writer: bool) -> None:
    """Remove the window ID."""
    with errors_as_messages():
        _opened(registry, only_writer).remove(id, until)


@windows.command("list")
@_registry
def windows_list(registry: str) -> None:
    """List the windows, and the time from which each counts."""
    with errors_as_messages():
        kept = WindowRegistry(registry)
        kept.check_exists()
        for one in kept.list():
            _print(one)


def _print(line: object) -> None:
    """Print a line, whatever characters its names have."""
    click.echo(escape_controls(str(line)))


def _opened(registry: str, only_writer: bool) -> WindowRegistry:
    return WindowRegistry(registry, writers="one" if only_writer else "many")


@click.command("state", short_help="Show how much state a checkpoint holds per window.")
@click.argument("checkpoint")
def state_command(checkpoint: str) -> None:
    """Show how much state the CHECKPOINT of a streaming query holds per window; the query may be running."""
    with all_errors_as_messages():
        if not is_remote(checkpoint):
            existing(checkpoint, "checkpoint")  # before Spark starts
        from muntin.spark import session, state

        spark = session(app="muntin state")
        try:
            for kept in state(checkpoint, spark):
                _print(f"operator {kept.operator}: {kept}")
        finally:
            spark.stop()
