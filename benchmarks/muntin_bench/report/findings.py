"""What each figure shows, in one sentence that is written above it, with the numbers of the result file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TypeVar

from muntin_bench.record import Row
from muntin_bench.report.queries import ratio
from muntin_bench.report.stream import plain_rate
from muntin_bench.report.style import short

Number = TypeVar("Number", int, float)


def told(finding: Callable[[Row], str], result: Row) -> str:
    """Give a finding; nothing as long as rows that it compares are not measured."""
    try:
        return finding(result)
    except (KeyError, ValueError):
        return ""


def speedup_finding(result: Row) -> str:
    """Say how many times as fast as plain Spark the smallest and the largest window sets are."""
    told = []
    for count in _ends([row["count"] for row in result["rows"]]):
        means = [row["ratios"]["auto"]["mean"] for row in result["rows"] if row["count"] == count]
        told.append((count, " to ".join(map(_times, _ends(means)))))
    (few, less), (many, more) = told
    return f"With {few} windows, Muntin is on average {less} times as fast as plain Spark; with {many}, {more}"


def growth_finding(result: Row) -> str:
    """Say how many times as fast as plain Spark the largest case is that both ran, along each axis."""
    told = []
    for axis in ("events", "windows", "keys"):
        rows = [row for row in result["rows"] if row["axis"] == axis and {"plain", "auto"} <= set(row["seconds"])]
        most = max(rows, key=lambda row: row[axis])
        told.append((_faster(most["seconds"]), f"{short(most[axis])} {axis}"))
    (times, where), *others = told
    rest = "".join(f", {times} times with {where}" for times, where in others)
    return f"Muntin is {times} times as fast as plain Spark with {where}{rest}"


def planning_finding(result: Row) -> str:
    """Say how long the costliest algorithm takes."""
    best = [row for row in result["rows"] if row["algorithm"] == "best" and "tumbling" not in row["family"]]
    many = max(row["count"] for row in best)
    few = 20
    slowest = {count: max(row["median_ms"] for row in best if row["count"] == count) for count in (few, many)}
    return f"The default, best, plans {few} windows in {slowest[few]:.0f} ms, {many:,} in {slowest[many] / 1000:.1f} s"


def kernels_finding(result: Row) -> str:
    """Say how naive compares with all others where the range is long."""
    rows = [row for row in result["rows"] if row["setting"] == "one range"]
    size = max(row["size"] for row in rows)
    speeds = [(row["technique"] == "naive", row["per_second"]) for row in rows if row["size"] == size]
    naive = max(speed for is_naive, speed in speeds if is_naive)
    others = min(speed for is_naive, speed in speeds if not is_naive)
    return (
        f"Over a range of {short(float(f'{size:.1g}'))} partials, naive slides {_about(naive)} times a second, "
        f"every other technique at least {_about(others)} times"
    )


def cutty_finding(result: Row) -> str:
    """Say how the rate of Cutty compares with that of the Reactive Aggregator, for both workloads."""
    many = max(row["queries"] for row in result["rows"])
    rates = {(r["workload"], r["way"]): r["rows_per_second"] for r in result["rows"] if r["queries"] == many}
    periodic, sessions = (
        rates[name, "cutty"] / rates[name, "reactive_aggregator"] for name in ("periodic", "sessions")
    )
    return (
        f"With {many} queries, eager Cutty takes {periodic:.0f} times as many rows per second as the Reactive "
        f"Aggregator on periodic windows, {sessions:.0f} times on sessions"
    )


def weave_finding(result: Row) -> str:
    """Say what the technique makes of the cost at the most queries, and what the algorithm does."""
    rows = [row for row in result["rows"] if row["part"] == "experiment"]
    most = max(row["value"] for row in rows if row["parameter"] == "queries")
    costs = {
        row["technique"]: row["cost"]
        for row in rows
        if (row["parameter"], row["value"], row["algorithm"]) == ("queries", most, "weave_share")
    }
    least = min(costs, key=lambda name: costs[name])
    times = _about(costs["panes"] / costs[least])
    return f"With {short(most)} queries, panes costs {times} times as much as {least}"


def rolling_finding(result: Row) -> str:
    """Say how long the longest frames take that were measured."""
    rows = [row for row in result["rows"] if row["part"] == "frames"]
    longest = max(rows, key=lambda row: row["frame"])
    plain = max((row for row in rows if "plain" in row["seconds"]), key=lambda row: row["frame"])
    return (
        f"Muntin takes {longest['seconds']['auto']:.1f} s for frames of {short(longest['frame'])} rows; "
        f"Spark's default takes {plain['seconds']['plain']:.1f} s for frames of {short(plain['frame'])}"
    )


def stream_finding(result: Row) -> str:
    """Say how many times as many events as plain Spark the streams with the most windows take."""
    most, told = 0, []
    for kind in ("dense", "sparse"):
        rows = [row for row in result["rows"] if row["setting"].startswith(kind) and "tumbling" in row["setting"]]
        row = max(rows, key=lambda row: row["windows"])
        most = row["windows"]
        rate = row["contenders"]["auto"]["events_per_second"]
        told.append(f"{rate / plain_rate(row['contenders']):.1f} times")
    return (
        f"With {most} windows, Muntin takes {told[0]} as many events per second as plain Spark on a dense stream, "
        f"{told[1]} on a sparse one"
    )


def subsume_finding(result: Row) -> str:
    """Say how much less the exact groups of the largest sets keep than each query alone."""
    many = max(row["windows"] for row in result["rows"])
    rows = [row for row in result["rows"] if row["windows"] == many and row["method"] == "exact"]
    saved = [fmean(row["alone"]) / fmean(row["kept"]) for row in rows]
    low, high = map(_about, _ends(saved))
    return f"Without groups, {short(many)} windows keep {low} to {high} times as much as in exact groups"


def queries_finding(result: Row) -> str:
    """Say how many times as fast as plain Spark the smallest and the largest sets of queries are."""
    few, many = _ends([row["queries"] for row in result["rows"]])
    faster = []
    for count in (few, many):
        ratios = [ratio(row) for row in result["rows"] if row["queries"] == count]
        faster.append(" and ".join(_times(times) for times in sorted(ratios)))
    return f"Together, {few} queries are {faster[0]} times as fast as plain Spark, {many} are {faster[1]} times"


def _ends(numbers: Sequence[Number]) -> tuple[Number, Number]:
    return min(numbers), max(numbers)


def _faster(seconds: dict[str, float]) -> str:
    return _times(seconds["plain"] / seconds["auto"])


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _about(number: float) -> str:
    """Write the first two digits of a number, rounded down.

    >>> _about(657.4), _about(4_961), _about(9_480_000)
    ('650', '4,900', '9.4 million')
    """
    unit = 10 ** (len(str(int(number))) - 2)
    rounded = int(number // unit * unit) if unit >= 1 else int(number)
    return f"{rounded / 1e6:g} million" if rounded >= 1e6 else f"{rounded:,}"
