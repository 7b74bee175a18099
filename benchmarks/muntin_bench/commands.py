"""muntin bench: every experiment, and the report of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from muntin.cli.help import Commands

RESULTS = Path("benchmarks/results")

EXTRAS = ("duckdb", "matplotlib", "polars")
"""What only the benchmarks need; `pip install --editable benchmarks` installs it."""

AT_LEAST_ONE = click.IntRange(min=1)


@contextmanager
def _extras_as_messages() -> Iterator[None]:
    """Say how to install what the benchmarks need beside Muntin."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise click.ClickException(f"{package} is not installed. Run: pip install --editable benchmarks") from error


@click.group("bench", cls=Commands)
def bench() -> None:
    """Repeat an experiment and write its result file."""


def _out(name: str) -> Callable[[Any], Any]:
    return click.option(
        "--out",
        type=click.Path(path_type=Path, dir_okay=False),
        default=RESULTS / f"{name}.json",
        show_default=True,
        help="Result file to write.",
    )


def _rounds(who: str, default: int = 3) -> Callable[[Any], Any]:
    help = f"How often every {who} runs, in turn."
    return click.option("--rounds", default=default, show_default=True, type=AT_LEAST_ONE, help=help)


_data = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/bench"),
    show_default=True,
    help="Folder for the event files, which are made once.",
)


@bench.command("model")
@_out("model")
def bench_model(out: Path) -> None:
    """Compare model costs on the paper's window sets."""
    from muntin_bench.experiments.model import RANDOM_SETS, model_ratios

    _run(
        "model",
        out,
        model_ratios(progress=_say),
        random_sets={"tumbling": RANDOM_SETS[True], "hopping": RANDOM_SETS[False]},
        seeds="0, 1, …",
    )


@bench.command("quality")
@click.option("--sets", default=100, show_default=True, type=AT_LEAST_ONE, help="Random window sets in a row.")
@_out("quality")
def bench_quality(out: Path, sets: int) -> None:
    """Measure how far the algorithms are from the exact optimum."""
    from muntin_bench.experiments.quality import gaps

    _run("quality", out, gaps(sets, progress=_say), sets=sets, seeds="0, 1, …")


@bench.command("planning")
@_out("planning")
def bench_planning(out: Path) -> None:
    """Measure the planning time for 5 to 1000 windows."""
    from muntin_bench.experiments.planning import planning_times

    _run("planning", out, planning_times(progress=_say), seeds="0, 1, …")


@bench.command("weave")
@click.option("--runs", default=10, show_default=True, type=AT_LEAST_ONE, help="Query sets that are averaged.")
@_out("weave")
def bench_weave(out: Path, runs: int) -> None:
    """Compare plans of many queries in trees, and ways to count edges."""
    from muntin_bench.experiments.weave import weave_experiments

    _run("weave", out, weave_experiments(runs, progress=_say), runs=runs, seeds="0, 1, …")


@bench.command("subsume")
@_rounds("method", default=5)
@_out("subsume")
def bench_subsume(out: Path, rounds: int) -> None:
    """Put the subsumption paper's window sets into groups: how many, how quickly, and what they keep."""
    from muntin_bench.experiments.subsume import subsume_experiments

    _run("subsume", out, subsume_experiments(rounds, progress=_say), rounds=rounds, seeds="0, 1, 2")


@bench.command("batch")
@click.argument(
    "experiment",
    type=click.Choice(
        [
            "paper-1m",
            "paper-10m",
            "keyed",
            "mixed",
            "fine",
            "peers",
            "growth",
            "shapes",
            "transfer",
            "frames",
            "holistic",
        ]
    ),
)
@_rounds("contender")
@click.option("--sets", type=AT_LEAST_ONE, help="RandomGen window sets in a row.  [default: 10 of 1M events, 3 of 10M]")
@_data
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Result file to write.")
def bench_batch(experiment: str, rounds: int, sets: int | None, data: Path, out: Path | None) -> None:
    """Measure batch aggregation on Spark against plain Spark and its peers."""
    from muntin_bench.experiments import batch
    from muntin_bench.experiments.frames import frames
    from muntin_bench.experiments.holistic import holistic

    folder = data.absolute()
    large = experiment == "paper-10m"
    sets = sets or (3 if large else 10)
    experiments: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "paper-1m": lambda: batch.paper_tables(folder, 1_000_000, sets, rounds, _say),
        "paper-10m": lambda: batch.paper_tables(folder, 10_000_000, sets, rounds, _say, ("plain", "auto")),
        "keyed": lambda: batch.keyed(folder, rounds, _say),
        "mixed": lambda: batch.mixed(folder, rounds, _say),
        "fine": lambda: batch.fine_slides(folder, rounds, _say),
        "peers": lambda: _peers(folder, rounds),
        "growth": lambda: batch.growth(folder, rounds, _say),
        "shapes": lambda: batch.shapes(folder, rounds, _say),
        "transfer": lambda: batch.transfer(folder, rounds, _say),
        "frames": lambda: frames(folder, rounds, _say),
        "holistic": lambda: holistic(folder, rounds, _say),
    }
    name, rows = f"batch {experiment}", experiments[experiment]()
    _run(name, out or RESULTS / f"{name.replace(' ', '-')}.json", rows, rounds=rounds, sets=sets, seeds="0, 1, …")


@bench.command("calibrate")
@_rounds("shape", default=2)
@click.option(
    "--trials",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Result file of an earlier run: solve again for its trials, and measure nothing.",
)
@_data
@_out("calibrate")
def bench_calibrate(rounds: int, trials: Path | None, data: Path, out: Path) -> None:
    """Measure every shape in a small design of experiments, and solve for the prices of the cost model."""
    from muntin_bench.experiments.calibration.run import calibrate, solved_again
    from muntin_bench.record import load, save

    if trials is None:
        _run("calibrate", out, calibrate(data.absolute(), rounds, _say), rounds=rounds)
        return
    earlier = load(trials)  # the circumstances stay those of the measurement
    save({**earlier, "rows": list(solved_again(earlier["rows"], _say))}, out)
    click.echo(f"wrote {out}")


def _peers(folder: Path, rounds: int) -> Iterator[dict[str, Any]]:
    with _extras_as_messages():
        from muntin_bench.experiments.peers import peers
    return peers(folder, rounds, _say)


@bench.command("kernels")
@_rounds("technique")
@_out("kernels")
def bench_kernels(out: Path, rounds: int) -> None:
    """Measure all techniques of final aggregation, for one range and for many."""
    from itertools import chain

    from muntin_bench.experiments.kernels import first_use, many_ranges, one_range

    rows = chain(one_range(rounds, _say), many_ranges(rounds, _say), first_use(_say))
    _run("kernels", out, rows, rounds=rounds, seeds="1, 2")


@bench.command("cutty")
@_rounds("way", default=5)
@_out("cutty")
def bench_cutty(out: Path, rounds: int) -> None:
    """Compare ways to share slices among 1 to 100 queries: Cutty, pairs, the Reactive Aggregator."""
    from muntin_bench.experiments.cutty import SEED, cutty_experiments

    _run("cutty", out, cutty_experiments(rounds, _say), rounds=rounds, seeds=str(SEED))


@bench.command("rolling")
@_rounds("contender")
@_data
@_out("rolling")
def bench_rolling(rounds: int, data: Path, out: Path) -> None:
    """Measure rolling windows against Spark's window functions, with and without its segment tree."""
    from muntin_bench.experiments.rolling import rolling

    _run("rolling", out, rolling(data.absolute(), rounds, _say), rounds=rounds)


@bench.command("join")
@_rounds("contender")
@click.option(
    "--events", default=4_000_000, show_default=True, type=click.IntRange(min=2_000), help="Rows of a left side."
)
@_data
@_out("join")
def bench_join(rounds: int, events: int, data: Path, out: Path) -> None:
    """Measure joins for three ranges at once against three joins in plain Spark, and the state of streams."""
    from muntin_bench.experiments.join import join

    _run("join", out, join(data.absolute(), rounds, _say, events), rounds=rounds, events=events)


@bench.command("queries")
@_rounds("contender", default=1)
@click.option(
    "--events", default=10_000_000, show_default=True, type=click.IntRange(min=2_000), help="Events of the input."
)
@_data
@_out("queries")
def bench_queries(rounds: int, events: int, data: Path, out: Path) -> None:
    """Measure sets of 2 to 100 queries, evaluated together, against each of them alone in plain Spark."""
    from muntin_bench.experiments.queries import queries

    _run("queries", out, queries(data.absolute(), rounds, _say, events), rounds=rounds, events=events)


@bench.command("woven")
@_rounds("plan")
@_out("woven")
def bench_woven(out: Path, rounds: int) -> None:
    """Run the trees of the multi-query optimizers on the kernels, and compare with their estimates."""
    from muntin_bench.experiments.woven import estimated_and_measured

    _run("woven", out, estimated_and_measured(rounds, _say), rounds=rounds, seeds="0, 1, 2")


@bench.group("stream", invoke_without_command=True)
@_rounds("contender", default=1)
@click.option(
    "--events",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(min=100),  # the shortest stream has a tenth of them, in ten files
    help="Events of a stream.",
)
@click.option("--only", multiple=True, help="Name of a stream to measure; all if none is given.")
@_data
@_out("stream")
@click.pass_context
def bench_stream(
    context: click.Context, rounds: int, events: int, only: tuple[str, ...], data: Path, out: Path
) -> None:
    """Measure Structured Streaming against plain Spark: throughput, state, micro-batch times.

    With a command, measure streams beside Flink SQL instead. Its options come after its name.
    """
    if (command := context.invoked_subcommand) is not None:
        sources = map(context.get_parameter_source, context.params)
        if any(source is ParameterSource.COMMANDLINE for source in sources):
            raise click.UsageError(f"Options of {command} come after its name: muntin bench stream {command} …")
        return
    from muntin_bench.experiments.stream import streams

    _run("stream", out, streams(data.absolute(), rounds, _say, events, only), rounds=rounds, events=events)


_flink = click.option(
    "--flink",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".venv-flink"),
    show_default=True,
    help="Environment with PyFlink, as tools/flink makes it.",
)


@bench_stream.command("flink")
@_rounds("engine", default=1)
@click.option(
    "--events",
    default=3_000_000,
    show_default=True,
    type=click.IntRange(min=200),  # there are half of them in hopping windows, in ten files
    help="Events of a stream.",
)
@_flink
@_data
@_out("stream-flink")
def bench_stream_flink(rounds: int, events: int, flink: Path, data: Path, out: Path) -> None:
    """Measure streams beside Flink SQL: the same windows, events and cores."""
    from muntin_bench.experiments.flink import beside_flink

    rows = beside_flink(data.absolute(), flink.absolute(), rounds, _say, events)
    _run("stream flink", out, rows, rounds=rounds, events=events)


@bench_stream.command("latency")
@click.option("--servers", default="localhost:9092", show_default=True, help="A Kafka broker, as make kafka starts it.")
@click.option("--jars", required=True, help="Spark's Kafka connector, as make kafka-jars prints it.")
@click.option(
    "--seconds", default=60, show_default=True, type=click.IntRange(min=60), help="How long each engine runs."
)
@_flink
@_out("stream-latency")
def bench_stream_latency(servers: str, jars: str, seconds: int, flink: Path, out: Path) -> None:
    """Measure how long after its last event a window's rows come out, beside Flink SQL."""
    from muntin_bench.experiments.flink_latency import flink_latency

    _run("stream latency", out, flink_latency(servers, jars, flink.absolute(), seconds, _say), seconds=seconds)


@bench.command("distinct-stream")
@_rounds("contender")
@click.option(
    "--events",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(min=100),  # there are 45 days of them
    help="Events of a stream.",
)
@_data
@_out("distinct-stream")
def bench_distinct_stream(rounds: int, events: int, data: Path, out: Path) -> None:
    """Measure exact distinct counts over a stream against plain Spark: throughput and state."""
    from muntin_bench.experiments.distinct_stream import distinct_streams

    _run("distinct-stream", out, distinct_streams(data.absolute(), rounds, _say, events), rounds=rounds, events=events)


@bench.command("soak")
@click.option(
    "--minutes",
    default=3.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="How long each strategy runs.",
)
@_out("soak")
def bench_soak(minutes: float, out: Path) -> None:
    """Run streams at great speed for minutes, and watch heap and state."""
    from muntin_bench.experiments.soak import soak

    _run("soak", out, soak(minutes, _say), minutes=minutes)


@bench.command("report")
@click.option(
    "--results", type=click.Path(path_type=Path, exists=True, file_okay=False), default=RESULTS, show_default=True
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("docs/benchmarks.md"), show_default=True
)
def bench_report(results: Path, out: Path) -> None:
    """Write the tables and figures of all result files into one document.

    README.md and docs/slow_union.md beside it get the figures that they quote.
    """
    from muntin_bench.record import load
    from muntin_bench.report.age import count_changes
    from muntin_bench.report.pages import report
    from muntin_bench.report.quotes import write_quotes

    with _extras_as_messages():
        from muntin_bench.report.plots import FIGURES
    count_changes(results)
    out.write_text(report(results), encoding="utf-8")
    write_quotes(out.parent.parent, results)
    for name, (draw, figure) in FIGURES.items():
        if (path := results / f"{name}.json").exists():
            draw(load(path), out.parent / figure)
    click.echo(f"wrote {out}")


def _say(text: str) -> None:
    click.echo(text, err=True)


def _run(name: str, out: Path, rows: Iterator[dict[str, Any]], **settings: Any) -> None:
    from muntin_bench.record import record, save

    so_far: list[dict[str, Any]] = []
    for row in rows:  # what a long experiment has measured outlives its end
        so_far.append(row)
        save(record(name, f"muntin bench {name}", so_far, **settings), out)
    click.echo(f"wrote {out}")
