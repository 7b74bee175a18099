"""muntin demo."""

from __future__ import annotations

import click


@click.command("demo", short_help="Try it: windows over an IoT stream, beside plain Spark.")
@click.option(
    "--rows", default=3_000_000, show_default=True, type=click.IntRange(min=1), help="How many events to generate."
)
@click.option("--stream", is_flag=True, help="Run the dashboard on a stream instead, and show its progress.")
def demo_command(rows: int, stream: bool) -> None:
    """Run two queries and an SQL file over IoT events, show their plans, and compare the times with plain Spark."""
    from muntin.cli.queries.sessions import kept_log, spark_session

    click.echo("Starting Spark …")
    with kept_log(quiet=True) as log, spark_session("muntin demo", None, {"spark.driver.memory": "3g"}, log) as spark:
        if stream:
            from muntin.cli.demo_stream import demo_stream

            demo_stream(spark, rows=rows)
        else:
            from muntin.cli.demo import demo

            demo(spark, rows=rows)
