"""muntin windows and muntin state: a running query, from outside."""

from __future__ import annotations

import click

from muntin.cli.failures import errors_as_messages
from muntin.paths import existing
from muntin.registry import WindowRegistry


@click.group("windows")
def windows() -> None:
    """Add, remove and list the windows of a running query, kept in the folder REGISTRY."""


_registry = click.argument("registry")


@windows.command("add")
@_registry
@click.argument("window")
@click.option("--id", help="What result rows have as window_id.  [default: the lengths]")
@click.option("--since", help="An event time, such as 2024-05-01T12:00, before which no instance begins.")
def windows_add(registry: str, window: str, id: str | None, since: str | None) -> None:
    """Add WINDOW, such as "1 hour every 5 minutes"; it starts with its next complete instance."""
    with errors_as_messages():
        click.echo(WindowRegistry(registry).add(window, id, since))


@windows.command("remove")
@_registry
@click.argument("id")
@click.option("--until", help="An event time after which no instance ends.  [default: the query's watermark]")
def windows_remove(registry: str, id: str, until: str | None) -> None:
    """Remove the window ID."""
    with errors_as_messages():
        WindowRegistry(registry).remove(id, until)


@windows.command("list")
@_registry
def windows_list(registry: str) -> None:
    """List windows, and since when they count."""
    with errors_as_messages():
        for one in WindowRegistry(existing(registry, "registry")).list():
            click.echo(one)


@click.command("state")
@click.argument("checkpoint")
def state_command(checkpoint: str) -> None:
    """Print what the CHECKPOINT of a streaming query keeps for which window; the query may be running."""
    with errors_as_messages():
        folder = existing(checkpoint, "checkpoint")  # before Spark starts
        from muntin.spark import session, state

        spark = session(app="muntin state")
        try:
            for kept in state(folder, spark):
                click.echo(f"operator {kept.operator}: {kept}")
        finally:
            spark.stop()
