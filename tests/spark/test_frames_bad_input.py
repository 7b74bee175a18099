"""What is wrong with a window of another kind, or with its rows, is said: before any job where that can be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """Give four rows of key a and two of key b, one every second."""
    return spark.sql(
        "select timestamp_seconds(1704067200 + id) ts, if(id < 4, 'a', 'b') key, id, id * 1.5d km, "
        "if(id = 3, 2.0d, id * 1.5d) falls, if(id = 2, null, id) holes, if(id = 5, double('inf'), 1) vast, "
        "cast(id as string) text, id > 2 flag, map(1, 2) m, named_struct('x', 1) st from range(6)"
    )


def ask(df: DataFrame, windows: Any, **changes: Any) -> DataFrame:
    result: DataFrame = mt.aggregate(df, "ts", "key", windows, mt.count(), **changes)
    return result


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda: mt.session_window("0 s", id="w"),
            "gap 0s is not positive in window 'w'. Use one longer than nothing.",
        ),
        (lambda: mt.session_window(30), "gap 30 has no unit of time. Write '30 seconds', say."),
        (
            lambda: mt.session_window("1 h", longest="0 s"),
            "longest 0s is not positive. Use one longer than nothing.",
        ),
        (lambda: mt.rows(0), "0 is not a count of rows. Use a whole number from 1 on."),
        (lambda: mt.rows(2.5), "2.5 is not a count of rows. Use a whole number from 1 on."),  # type: ignore[arg-type]
        (lambda: mt.tumbling(0, on="km", id="w"), "range 0 is not positive in window 'w'. Use a range above 0."),
        (lambda: mt.hopping(5, 10, on="km"), "slide 10 exceeds range 5. Use a slide of at most 5."),
        (lambda: mt.hopping(mt.rows(5), mt.rows(10)), "slide 10 exceeds range 5. Use a slide of at most 5."),
        (lambda: mt.hopping(mt.rows(5), "0 s"), "slide 0s is not positive. Use one longer than nothing."),
        (
            lambda: mt.cumulating("1 day", "7 hours", id="w"),
            "step 7h does not divide range 1d in window 'w'. Use a step that does.",
        ),
        (lambda: mt.landmark(since="soon", step="1 day"), "since 'soon' is no moment. Use '2024-01-01', a datetime or"),
        (lambda: mt.landmark(since=2**62, step="1 day"), "since 4611686018427387904 is no moment"),
        (lambda: mt.delta("km", -1), "distance -1 is negative. Use one from 0 on."),
        (lambda: mt.delta("km", float("nan")), "distance nan is not a number. Use one such as 10 or 2.5."),
        (lambda: mt.until("km", 5), "'km' is not an aggregate. Use one such as mt.sum('amount')."),  # type: ignore[arg-type]
        (lambda: mt.punctuated(3), "a punctuated window was given 3 as a column. Use a column's name, or a Column."),
        (
            lambda: mt.user_window(3, id="w"),
            "3 is no discretizer in window 'w'. Use a function of state, time and values",
        ),
    ],
)
def test_windows_that_cannot_be(made: Callable[[], Any], message: str) -> None:
    with pytest.raises(mt.QueryError) as error:
        made()
    assert message in str(error.value)


def test_aggregates_that_bound_no_window() -> None:
    with pytest.raises(
        mt.UnsupportedError, match=r"until avg reaches a bound is not supported in window 'w'\. Use mt\.sum"
    ):
        mt.until(mt.avg("km"), 5, id="w")


@pytest.mark.parametrize(
    ("windows", "changes", "message"),
    [
        (mt.punctuated("starts"), {}, "no column 'starts' in the input, which window 'begun by starts' watches."),
        (mt.hopping(10, 5, on="miles"), {}, "no column 'miles' in the input, which window '10/5 miles' watches."),
        (
            mt.until(mt.sum("amount"), 5),
            {},
            "no column 'amount' in the input, which window 'until sum(amount) 5' watches.",
        ),
        (mt.delta("st.x", 5), {}, "Use F.col('st.x') for a field within a column."),
        (mt.session_window("1 s"), {"order_by": "turn"}, "no column 'turn' in the input, which order_by names."),
        (
            mt.session_window("1 s"),
            {"order_by": lambda: F.desc("turn")},
            "order_by sorts by 'turn', which is not a column.",
        ),
        (
            mt.session_window("1 s"),
            {"order_by": "m"},
            "order_by has 'm' of type map<int,int>, which Spark cannot sort by.",
        ),
        (mt.session_window("1 s"), {"order_by": 3}, "order_by has 3, which is not a column."),
        (
            mt.while_("text", id="w"),
            {},
            "window 'w' takes 'text' for a condition, which is of type string. "
            "Use a boolean column or a condition, such as F.col('speed') > 120.",
        ),
        (mt.punctuated("id"), {}, "window 'begun by id' takes 'id' for a condition, which is of type bigint."),
        (mt.hopping(10, 5, on="text"), {}, "window '10/5 text' takes 'text' for a number, which is of type string."),
        (mt.delta("flag", 1, id="w"), {}, "window 'w' takes 'flag' for a number, which is of type boolean."),
        (mt.until(mt.max("text"), 1, id="w"), {}, "window 'w' takes 'text' for a number, which is of type string."),
        (
            [mt.session_window("1 s"), mt.session_window("1 s")],
            {},
            "window session 1s appears twice. Leave one out.",
        ),
        (
            [mt.session_window("1 s", id="w"), mt.tumbling(mt.rows(5), id="w")],
            {},
            "window id 'w' is given twice. Use a different id for each window.",
        ),
        (
            [mt.while_("flag"), mt.while_("flag", id="again")],
            {},
            "window while flag appears twice. Leave one out.",
        ),
        (
            [mt.tumbling("1 h"), mt.session_window("1 s")],
            {"layout": "wide"},
            "window 'session 1s' has no ends in common with others. Use layout='long'.",
        ),
        (
            mt.session_window("4000000 days"),
            {},
            "gap 4000000d of window 'session 4000000d' is longer than the time that Spark knows.",
        ),
    ],
)
def test_bad_queries_are_refused_before_any_job(
    df: DataFrame, spark: SparkSession, windows: Any, changes: dict[str, Any], message: str
) -> None:
    tracker: Any = spark.sparkContext.statusTracker()
    jobs = sorted(tracker.getJobIdsForGroup(None))
    with pytest.raises(mt.QueryError) as error:
        ask(df, windows, **{name: given() if callable(given) else given for name, given in changes.items()})
    assert message in str(error.value)
    assert sorted(tracker.getJobIdsForGroup(None)) == jobs


def test_conditions_over_missing_columns(df: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match=r"the columns that windows watch cannot be read: .*nowhere"):
        ask(df, mt.while_(F.col("nowhere") > 3))


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (
            mt.hopping(10, 5, on="falls"),
            "window '10/5 falls': 'falls' falls from 3.0 to 2.0 at row 3 of key 'a', time 2024-01-01 00:00:03 UTC.",
        ),
        (
            mt.tumbling(2, on="holes", id="w"),
            "window 'w': 'holes' has no value at row 2 of key 'a', time 2024-01-01 00:00:02 UTC.",
        ),
        (
            mt.tumbling(2, on="vast"),
            "window '2 vast': 'vast' is inf, which is too far to count from 0 by 2, at row 1 of key 'b', "
            "time 2024-01-01 00:00:05 UTC.",
        ),
    ],
)
def test_measures_that_are_none(df: DataFrame, window: Any, message: str) -> None:
    assert_fails(ask(df, window), message)


def test_an_aggregate_of_spark_is_no_bound(spark: SparkSession) -> None:
    with pytest.raises(mt.QueryError, match=r"sum\(x\) is an aggregate of Spark in window 'w'. Use mt\.sum, mt\.count"):
        mt.until(F.sum("x"), 3, id="w")  # type: ignore[arg-type]


def assert_fails(result: DataFrame, message: str) -> None:
    with pytest.raises(PythonException) as error:
        result.collect()
    assert message in str(error.value)


@pytest.mark.long
def test_discretizers_that_are_wrong(df: DataFrame) -> None:
    """Each says which window, key and row."""

    def raises(state: int, time: int, value: str) -> tuple[int, int, int]:
        return state, 1 // (3 - int(value)), 0

    def ends_nothing(state: int, time: int) -> tuple[int, int, int]:
        return state + 1, 0, int(state == 1)

    def out_of_turn(state: int, time: int) -> tuple[int, int, Any]:
        return state + 1, 1, [1] if state == 2 else []

    def unknown(state: int, time: int) -> tuple[int, int, Any]:
        return state + 1, int(state == 0), [1] if state == 2 else []

    def nonsense(state: int, time: int) -> tuple[int, Any, int]:
        return state, "one", 0

    def two_things(state: int, time: int) -> Any:
        return state, 1

    class TooFew:
        initial = 0

        def steps(self, state: int, time: Any) -> Any:
            return state, [0], [0]

    wrong: list[tuple[Any, Any, str]] = [
        (
            raises,
            "text",
            "the discretizer raised ZeroDivisionError: integer division or modulo by zero at row 3 of key 'a'",
        ),
        (ends_nothing, (), "the discretizer ends 1 window where 0 are open at row 1 of key"),
        (
            out_of_turn,
            (),
            "the discretizer ends windows of rows [1] before that of row 0, though fifo=True, at row 2 of key 'a'",
        ),
        (
            unknown,
            (),
            "the discretizer ends a window that began with row 1, which none did that is open, at row 2 of key 'a'",
        ),
        (nonsense, (), "the discretizer says that 'one' windows begin at row 0 of key"),
        (two_things, (), "the discretizer raised ValueError: not enough values to unpack"),
        (TooFew(), (), "steps gave 1 begins and 1 ends for"),
    ]
    for discretizer, columns, message in wrong:
        window = mt.user_window(discretizer, columns, initial=0, id="w")
        assert_fails(ask(df, window), f"window 'w': {message}")
