"""muntin demo."""

from __future__ import annotations

import click


@click.command("demo")
@click.option("--rows", default=3_000_000, show_default=True, type=click.IntRange(min=1), help="Events to make.")
@click.option("--stream", is_flag=True, help="Run the dashboard on a stream instead, and show its progress.")
def demo_command(rows: int, stream: bool) -> None:
    """Run two queries and a file of SQL over an IoT stream, with plans and the ratio to plain Spark."""
    if stream:
        from muntin.demo_stream import demo_stream

        demo_stream(rows=rows)
    else:
        from muntin.demo import demo

        demo(rows=rows)
