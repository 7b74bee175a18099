"""mt.join: from two DataFrames and what makes a pair of their rows to a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from muntin import names
from muntin.choices import Direction, How, JoinStrategy, check_choice
from muntin.errors import QueryError, UnsupportedError
from muntin.query import Windows
from muntin.spark.input.checking import check_ceiling
from muntin.spark.input.columns import Aggregates, Key
from muntin.spark.input.frame import check_frame
from muntin.spark.joins import stream
from muntin.spark.joins.aggregates import Input, from_pairs, from_sides
from muntin.spark.joins.asked import check_asked, needs_pairs
from muntin.spark.joins.estimate import MOST_PAIRS, check_most, estimated, warn_of_many
from muntin.spark.joins.instances import same_instance
from muntin.spark.joins.pairs import within_ranges
from muntin.spark.joins.request import Request, check_near, check_sides
from muntin.window import Length


def join(
    left: DataFrame,
    right: DataFrame,
    on: str | Iterable[str],
    left_time: Key,
    right_time: Key,
    *,
    within: Length | Iterable[Length] | None = None,
    windows: Windows | None = None,
    how: How = "inner",
    direction: Direction = "both",
    aggregates: Aggregates | None = None,
    strategy: JoinStrategy = "auto",
    most_pairs: int | None = MOST_PAIRS,
) -> DataFrame:
    """Find pairs of rows with equal keys that are near each other in time, for many ranges or windows at once.

    The result has the keys once, then the other columns of the left side and of the right side. Names that both sides
    have get the prefixes left_ and right_. Rows with null keys or without a time have no partner. Streams need
    watermarks on both times.

    Args:
        left: The rows of one side, a batch or a stream.
        right: The rows of the other side.
        on: The key columns, which both sides have.
        left_time: The column of event time on the left.
        right_time: The column of event time on the right.
        within: One range or several. Every pair that is at most the longest range apart appears once, with the shortest
            range that contains it in the column `within`. A range includes both ends, as in Spark's BETWEEN.
        windows: One periodic window or several, instead of `within`. Every pair appears once for each instance that
            contains both rows, with window_id and window.
        how: "inner", or "left", which also keeps left rows without a partner. With `windows`, that is decided for each
            instance.
        direction: With `within`: "both", or "forward" for only right rows at or after the left row.
        aggregates: With `windows`: aggregates of the pairs of every instance and key, such as mt.sum("right.amount").
            Most of them are computed from aggregates of each side, without making the pairs.
        strategy: "auto", "keys" (all rows of a key meet) or "stretches" (those of a key in a stretch of time).
        most_pairs: If more result rows than this are expected, a MuntinWarning says how many. None skips the estimate.

    Raises:
        QueryError: If you pass both or neither of `within` and `windows`, or if a column is missing.

    Example:
        ```python
        from pyspark.sql import functions as F

        hot = readings.where("state = 'hot'").select("device", "ts", "temperature")
        ok = readings.where("state = 'ok'").select("device", F.col("ts").alias("later"))
        pairs = mt.join(hot, ok, "device", "ts", "later", within=["10 minutes", "1 hour"], direction="forward")
        pairs.show(3)
        ```
    """
    check_frame(left, "left")
    check_frame(right, "right")
    check_choice("how", how, How)
    check_choice("direction", direction, Direction)
    check_choice("strategy", strategy, JoinStrategy)
    check_most(most_pairs)
    forward = direction == "forward"
    ranges, asked_windows = check_near(within, windows, forward=forward)
    check_ceiling(left.sparkSession, asked_windows)
    if ranges is not None and aggregates is not None:
        raise QueryError(
            "aggregates are per instance of a window, and within= has none. Use windows=, or group the pairs: "
            "mt.join(…, within=…).groupBy('within', …)."
        )
    one, other, by = check_sides(left, right, on, left_time, right_time)
    request = Request(one, other, by, how == "left", forward, ranges, asked_windows)
    streams = stream.check_streams(request, aggregated=aggregates is not None)
    asked = () if aggregates is None else check_asked(left, right, by, aggregates)
    if asked and not needs_pairs(left, right, asked):
        inputs = Input(left, left_time, names.LEFT), Input(right, right_time, names.RIGHT)
        return from_sides(*inputs, by, asked_windows, asked, outer=request.outer)
    if asked and streams:
        raise UnsupportedError(
            "an aggregate needs the pairs themselves, which is not supported on streams. Use count, sum, avg, min, max "
            "and others of one side, or join with windows= and no aggregates."
        )
    _ = request.outputs  # names are checked before any job
    if streams:
        return stream.same_instance(request) if ranges is None else stream.within_ranges(request, ranges)
    known = None if most_pairs is None else estimated(request)
    if known is not None and most_pairs is not None:
        warn_of_many(request, known, most_pairs)
    by_cost = known is None or known.prefers_stretches(request.band)
    stretches = by_cost if strategy == "auto" else strategy == "stretches"
    if asked:
        return from_pairs(request, asked, stretches=stretches)
    if ranges is None:
        return same_instance(request, stretches=stretches)
    return within_ranges(request, ranges, stretches=stretches)
