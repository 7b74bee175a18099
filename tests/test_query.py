from typing import Any

import pytest

import muntin as mt

HOUR = mt.tumbling("1 hour")


def test_a_query_knows_what_it_reads_and_gives() -> None:
    query = mt.Query("ts", ["device", "city"], [HOUR], [mt.min("v"), mt.corr("v", "w"), mt.count()])
    assert query.columns == ("ts", "device", "city", "v", "w")
    assert query.outputs == ("window_id", "window", "device", "city", "min_v", "corr_v_w", "count")
    assert query.check(["w", "v", "ts", "city", "device", "other"]) is query


def test_one_of_each_may_be_given_bare() -> None:
    assert mt.Query("ts", "device", HOUR, mt.min("v")) == mt.Query("ts", ["device"], [HOUR], [mt.min("v")])


def test_windows_may_be_texts() -> None:
    asked = (mt.tumbling("5 minutes"), mt.hopping("1 hour", "5 minutes"))
    written: list[Any] = [
        ["5 minutes", "1 hour every 5 minutes"],
        [asked[0], "1h/5m"],
        "5 minutes, 1 hour every 5 minutes",
    ]
    for texts in written:
        assert mt.Query("ts", [], texts, mt.count()).windows == asked
    assert mt.plan("20 minutes, 30 minutes", "min").windows == (mt.tumbling("20 min"), mt.tumbling("30 min"))
    assert mt.plan(["20", "30", mt.tumbling(40)], "min").cost == 150


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.Query("ts", [], [], mt.count()), "no windows were given"),
        (lambda: mt.Query("ts", [], HOUR, []), "no aggregates were given"),
        (lambda: mt.Query("ts", [], [HOUR, mt.tumbling("60 min")], mt.count()), "window ⟨1h,1h⟩ appears twice"),
        (
            lambda: mt.Query("ts", [], [mt.tumbling("1 h", id="a"), mt.tumbling("2 h", id="a")], mt.count()),
            "window id 'a' is given twice",
        ),
        (lambda: mt.Query("ts", [], HOUR, [mt.min("v"), mt.min("v")]), "output name 'min_v' appears twice"),
        (lambda: mt.Query("ts", ["window"], HOUR, mt.count()), "output name 'window' appears twice"),
        (lambda: mt.Query("ts", ["k"], HOUR, mt.count().alias("k")), "output name 'k' appears twice"),
        (lambda: mt.Query("ts", ["k", "k"], HOUR, mt.count()), "key 'k' appears twice in by"),
        (lambda: mt.Query("ts", [], (20, 10), mt.count()), "20 is not a window"),  # type: ignore[arg-type]
        (lambda: mt.Query("ts", [], None, mt.count()), "None is not a window"),  # type: ignore[arg-type]
        (lambda: mt.Query("ts", [], HOUR, mt.min("v")).check(None), "no column 'ts', 'v' in the input"),  # type: ignore[arg-type]
        (lambda: mt.Query("ts", [], HOUR, mt.min("v")).check("tv"), "Its columns are 'tv'"),
        (lambda: mt.QuerySet(5), "5 is not a query"),  # type: ignore[arg-type]
        (lambda: mt.Query("", [], HOUR, mt.count()), "time '' is not a column"),
        (lambda: mt.Query("ts", [3], HOUR, mt.count()), "by has 3, which is not a column"),
        (lambda: mt.Query("ts", [], [HOUR, mt.tumbling(20)], mt.count()), "range 20 has no unit of time"),
        (lambda: mt.plan([HOUR, mt.tumbling(20)], "min"), "range 20 has no unit of time. Write '20 seconds'"),
        (lambda: mt.weave([HOUR, mt.tumbling(20)]), "range 20 has no unit of time"),
        (
            lambda: mt.Query("ts", [], ["1 hour, 5 min"], mt.count()),
            "'1 hour, 5 min' is to be one window. Write several",
        ),
        (lambda: mt.Query("ts", [], ["hourly"], mt.count()), "cannot read 'hourly' as a duration"),
        (lambda: mt.Query("ts", [], "", mt.count()), "no windows were given"),
        (lambda: mt.Query("ts", [], HOUR, ["min"]), "'min' is not an aggregate"),  # type: ignore[list-item]
        (lambda: mt.Query("ts", ["k"], HOUR, mt.min("v")).check(["ts", "x"]), "no column 'k', 'v' in the input"),
        (lambda: mt.QuerySet([]), "a query set has no queries"),
        (lambda: mt.QuerySet(["q"]), "'q' is not a query"),  # type: ignore[list-item]
        (
            lambda: mt.QuerySet([mt.Query("a", [], HOUR, mt.count()), mt.Query("b", [], HOUR, mt.count())]),
            "use different event times ['a', 'b']",
        ),
        (lambda: mt.QuerySet([mt.Query("a", [], HOUR, mt.count())] * 2), "appears twice"),
    ],
)
def test_bad_queries_say_what_would_be_right(make: Any, message: str) -> None:
    with pytest.raises(mt.QueryError) as error:
        make()
    assert message in str(error.value)


def test_a_query_set_holds_queries_over_one_stream() -> None:
    queries = mt.QuerySet([mt.Query("ts", "k", HOUR, mt.min("v")), mt.Query("ts", [], HOUR, mt.max("w"))])
    assert len(queries) == 2
    assert queries.columns == ("ts", "k", "v", "w")
    assert [query.by for query in queries] == [("k",), ()]
    with pytest.raises(mt.QueryError, match="no column 'w'"):
        queries.check(["ts", "k", "v"])
