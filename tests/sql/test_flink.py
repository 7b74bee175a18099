"""Flink SQL: table functions of windows, and the older calls in GROUP BY."""

import pytest

from muntin.errors import UnsupportedError
from muntin.sqltext import read
from muntin.sqltext.statement import Call, Output, Select
from muntin.window import cumulating, hopping, session_window, tumbling

BY_WINDOW = "GROUP BY window_start, window_end"


def select(text: str) -> Select:
    ((only,),) = [statement.selects for statement in read(text, "flink")]
    return only


MINUTES = "INTERVAL '{}' MINUTES"
TABLE_FUNCTIONS = {
    "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES))": tumbling("10 min"),
    "TABLE(tumble(TABLE t, descriptor(ts), INTERVAL '10' MINUTE, INTERVAL '1' MINUTE))": tumbling(
        "10 min", offset="1 min"
    ),
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1:30' HOUR TO MINUTE) AS w": tumbling("90 min"),
    "TABLE(TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' DAY)) w": tumbling("1 d"),
    "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))": hopping("10 min", "5 min"),
    "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '1' HOUR, INTERVAL '2' SECOND))": hopping(
        "1 h", "5 s", offset="2 s"
    ),
    "TABLE(HOP(SIZE => INTERVAL '1' HOUR, DATA => TABLE t, SLIDE => INTERVAL '5' SECOND, TIMECOL => DESCRIPTOR(ts)))": (
        hopping("1 h", "5 s")
    ),
    "TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))": cumulating("1 d", "1 h"),
    "TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY, INTERVAL '3' HOUR))": cumulating(
        "1 d", "1 h", offset="3 h"
    ),
    "TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES))": session_window("10 min"),
    "TABLE(SESSION(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '10' MINUTES))": session_window(
        "10 min"
    ),
}


@pytest.mark.parametrize("form", TABLE_FUNCTIONS)
def test_every_table_function_reads(form: str) -> None:
    query = select(f"SELECT window_start, window_end, SUM(v) AS s FROM {form} {BY_WINDOW}")
    assert query.windows == (TABLE_FUNCTIONS[form],)
    assert query.input.sql == "SELECT * FROM `t`"
    assert query.input.time == "`ts`"
    assert query.outputs == (
        Output("`window`.`start`", "window_start"),
        Output("`window`.`end`", "window_end"),
        Output("`muntin_result_0`", "s"),
    )
    assert query.boundaries == "[)"


@pytest.mark.parametrize("keys", ["PARTITION BY k, l", "PARTITION BY (k, l)", "PARTITION BY (l, `k`)"])
def test_sessions_are_partitioned_by_the_keys(keys: str) -> None:
    query = select(
        f"SELECT k, l, COUNT(*) FROM TABLE(SESSION(TABLE db.t {keys}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) {BY_WINDOW}, k, l"
    )
    assert (query.keys, query.input.tables) == (("`k`", "`l`"), ("db.t",))
    with pytest.raises(UnsupportedError, match="PARTITION BY key"):
        read(
            f"SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE t {keys}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) {BY_WINDOW}, k"
        )


CALLS = {
    "TUMBLE(ts, INTERVAL '1' HOUR)": tumbling("1 h"),
    "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)": hopping("1 h", "5 min"),
    "SESSION(ts, INTERVAL '30' SECOND)": session_window("30 s"),
}


@pytest.mark.parametrize("form", CALLS)
def test_calls_in_group_by_read_with_their_ends(form: str) -> None:
    name, arguments = form.split("(")[0], form.split("(", 1)[1]
    ends = ", ".join(f"{name}_{end}({arguments} AS {end}" for end in ("START", "END", "ROWTIME"))
    query = select(f"SELECT k, {ends}, MAX(v) FROM t GROUP BY {form}, k")
    assert query.windows == (CALLS[form],)
    assert query.keys == ("`k`",)
    assert query.outputs == (
        Output("`muntin_key_0`", "k"),
        Output("`window`.`start`", "START"),
        Output("`window`.`end`", "END"),
        Output("`window`.`end` - INTERVAL '1' MILLISECOND", "ROWTIME"),
        Output("`muntin_result_0`", "EXPR$4"),
    )


def test_aggregates_read_with_filters() -> None:
    query = select(
        "SELECT COUNT(*) FILTER (WHERE v > 1), SUM(v) FILTER (WHERE w), STDDEV_POP(v), LAST_VALUE(v), COUNT(DISTINCT v) "
        f"FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) {BY_WINDOW} HAVING AVG(v) > 3"
    )
    assert query.calls == (
        Call("count_if", ("`v` > 1",)),
        Call("sum", ("CASE WHEN `w` THEN `v` END",)),
        Call("stddev_pop", ("`v`",)),
        Call("last", ("`v`",)),
        Call("count_distinct", ("`v`",)),
        Call("avg", ("`v`",)),
    )
    assert query.having == "`muntin_result_5` > 3"


def test_steps_and_views_are_tables() -> None:
    _, statement = read(
        "CREATE TEMPORARY VIEW v AS SELECT *, p * 2 AS q FROM bids WHERE p > 0; "
        "WITH s AS (SELECT q, ts FROM v) SELECT SUM(q) AS s "
        f"FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' HOUR)) {BY_WINDOW}"
    )
    assert statement.selects[0].input.sql == (
        "WITH `v` AS (SELECT *, `p` * 2 AS `q` FROM `bids` WHERE `p` > 0) SELECT `q`, `ts` FROM `v`"
    )


def test_windows_of_windows_are_refused() -> None:
    windows = f"SELECT window_start AS ts, SUM(v) AS v FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) {BY_WINDOW}"
    for text in (windows, "SELECT MAX(v) AS v FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"):
        with pytest.raises(UnsupportedError, match="Only the last SELECT"):
            read(
                f"WITH s AS ({text}) SELECT SUM(v) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '2' HOUR)) {BY_WINDOW}"
            )
    with pytest.raises(UnsupportedError, match="Only the last SELECT"):
        read(f"SELECT * FROM ({windows})")


def test_a_query_without_windows_is_sparks() -> None:
    (statement,) = read("SELECT k, \"v\" FROM t WHERE s = 'it''s'", "flink")
    assert (statement.spark, statement.reason) == (
        "SELECT `k`, `v` FROM `t` WHERE `s` = 'it\\'s'",
        "it does not group by windows",
    )
