"""The language of Azure Stream Analytics: every form of its windows, and what stands around them."""

from itertools import pairwise

import pytest

from muntin.errors import QueryError, UnsupportedError
from muntin.sqltext import read
from muntin.sqltext.lengths import AZURE_UNITS
from muntin.sqltext.statement import Call, Output, Select
from muntin.window import AnyWindow, hopping, session_window, snapshot, tumbling
from tests.sql.texts import PAPER


def select(text: str) -> Select:
    ((only,),) = [statement.selects for statement in read(text)]
    return only


def windows(definition: str) -> tuple[AnyWindow, ...]:
    return select(f"SELECT COUNT(*) FROM t TIMESTAMP BY ts GROUP BY {definition}").windows


FORMS = {
    "TumblingWindow(minute, 10)": tumbling("10 min"),
    "Tumbling(minute, 10)": tumbling("10 min"),
    "TUMBLINGWINDOW(MINUTE, 10)": tumbling("10 min"),
    "TumblingWindow(minute, 10, 3)": tumbling("10 min", offset="3 min"),
    "TumblingWindow(minute, 10, -3)": tumbling("10 min", offset="-3 min"),
    "TumblingWindow(Duration(minute, 10))": tumbling("10 min"),
    "Tumbling(Duration(hour, 1), Offset(minute, 5))": tumbling("1 h", offset="5 min"),
    "TumblingWindow(Duration(hour, 1), Offset(millisecond, -1))": tumbling("1 h", offset="-1 ms"),
    "TumblingWindow(day, 30)": tumbling("30 d"),
    "HoppingWindow(second, 10, 5)": hopping("10 s", "5 s"),
    "Hopping(second, 10, 5)": hopping("10 s", "5 s"),
    "HoppingWindow(second, 10, 5, 2)": hopping("10 s", "5 s", offset="2 s"),
    "HoppingWindow(Duration(minute, 1), Hop(second, 5))": hopping("1 min", "5 s"),
    "Hopping(Duration(hour, 1), Hop(minute, 5), Offset(second, 1))": hopping("1 h", "5 min", offset="1 s"),
    "SessionWindow(minute, 5)": session_window("5 min"),
    "Session(Timeout(minute, 5))": session_window("5 min"),
    "SnapshotWindow()": snapshot(),
    "System.Timestamp()": snapshot(),
    "System.Timestamp": snapshot(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_window_reads(form: str) -> None:
    assert windows(form) == (FORMS[form],)
    assert windows(f"Windows({form})") == (FORMS[form],)
    (identified,) = windows(f"Windows(Window('a', {form}))")
    assert (identified, identified.id) == (FORMS[form], "a")


@pytest.mark.parametrize("unit", AZURE_UNITS)
def test_every_unit_reads_by_all_its_names(unit: str) -> None:
    (one,), (other,) = windows(f"Tumbling({unit}, 7)"), windows(f"Tumbling(Duration({unit.upper()}, 7))")
    assert one == other
    assert one.longest == 7 * AZURE_UNITS[unit]  # type: ignore[union-attr]


def test_sessions_of_keys_read_where_the_keys_are_those_of_group_by() -> None:
    text = "SELECT k, l, COUNT(*) FROM t TIMESTAMP BY ts GROUP BY k, l, SessionWindow(minute, 5) OVER (PARTITION BY {})"
    assert select(text.format("L, [k]")).windows == (session_window("5 min"),)
    with pytest.raises(UnsupportedError, match="OVER \\(PARTITION BY key\\)"):
        read(text.format("k"))
    with pytest.raises(UnsupportedError, match="OVER \\(PARTITION BY key\\)"):
        read("SELECT k, COUNT(*) FROM t TIMESTAMP BY ts GROUP BY k, SessionWindow(minute, 5)")


@pytest.mark.parametrize(
    ("form", "longest"),
    [("SessionWindow(minute, 5, 20)", "20 min"), ("Session(Timeout(mi, 5), MaxDuration(hh, 1))", "1 h")],
)
def test_azure_looks_at_a_maximum_duration_by_its_clock(form: str, longest: str) -> None:
    assert windows(form) == (session_window("5 min", longest, aligned=True),)


def test_the_query_of_the_factor_windows_paper_reads_as_written() -> None:
    query = select(PAPER)
    assert [(window.id, window) for window in query.windows] == [
        (f"{minutes} min", tumbling(f"{minutes} minutes")) for minutes in (20, 30, 40)
    ]
    assert query.keys == ("`DeviceID`",)
    assert query.calls == (Call("min", ("`T`",)),)
    assert query.outputs == (
        Output("`muntin_key_0`", "DeviceID"),
        Output("`window_id`", "Id"),
        Output("`muntin_result_0`", "MinTemp"),
    )
    assert (query.input.tables, query.input.sql, query.input.time) == (
        ("Input",),
        "SELECT * FROM `Input`",
        "`EntryTime`",
    )
    assert query.boundaries == "(]"


def test_worked_examples_of_the_documentation_read() -> None:
    tens = [f"TumblingWindow(minute, {minutes})" for minutes in range(10, 70, 10)]
    assert windows(f"Windows({', '.join(tens)})") == tuple(tumbling(f"{minutes} min") for minutes in range(10, 70, 10))
    minutes = (
        "Window('1 min', TumblingWindow(minute, 1))",
        *(f"Window('{size} min', HoppingWindow(minute, {size}, 1))" for size in (15, 30, 60)),
    )
    assert [window.id for window in windows(f"Windows({', '.join(minutes)})")] == [
        "1 min",
        "15 min",
        "30 min",
        "60 min",
    ]
    by_five = [f"Window('H{size}', HoppingWindow(minute, {size}, 5))" for size in range(10, 70, 10)]
    assert windows(f"Windows({', '.join(by_five)})")[-1] == hopping("1 hour", "5 minutes")


def test_a_window_that_stands_twice_makes_a_select_more() -> None:
    text = (
        "SELECT System.Window().Id, COUNT(*) FROM t TIMESTAMP BY ts GROUP BY Windows(Window('a', Tumbling(hh, 1)), {})"
    )
    (statement,) = read(text.format("Window('b', Tumbling(mi, 60)), Window('c', Tumbling(hh, 2))"))
    assert [[window.id for window in one.windows] for one in statement.selects] == [["a", "c"], ["b"]]


def test_the_id_is_null_where_there_are_none_and_time_is_the_windows_end() -> None:
    query = select("SELECT System.Window().Id, System.Timestamp() AS t FROM x TIMESTAMP BY ts GROUP BY Tumbling(hh, 1)")
    assert query.outputs == (Output("CAST(NULL AS STRING)", "Id"), Output("`window`.`end`", "t"))


def test_before_windows_the_systems_time_is_the_event_time() -> None:
    query = select(
        "SELECT MAX(System.Timestamp()) AS last FROM x i TIMESTAMP BY i.ts "
        "WHERE System.Timestamp() > '2020-01-01' GROUP BY DATEPART(hour, System.Timestamp), Tumbling(d, 1)"
    )
    assert query.calls == (Call("max", ("`ts`",)),)
    assert query.where == "`ts` > '2020-01-01'"
    assert query.keys == ("hour(`ts`)",)


def test_steps_hand_the_event_time_on() -> None:
    query = select(
        "WITH a AS (SELECT k, v FROM Input TIMESTAMP BY ts WHERE v > 0), b AS (SELECT *, v * 2 AS w FROM a), "
        "c AS (SELECT k, w FROM B) SELECT k, SUM(w) AS s FROM c GROUP BY k, Tumbling(mi, 1)"
    )
    assert query.input.sql == (
        "WITH `a` AS (SELECT `k`, `v`, `ts` AS `muntin_time` FROM `Input` WHERE `v` > 0), "
        "`B` AS (SELECT *, `v` * 2 AS `w` FROM `a`) SELECT `k`, `w`, `muntin_time` FROM `B`"
    )
    assert (query.input.tables, query.input.time) == (("Input",), "`muntin_time`")


def test_unions_of_steps_keep_all_rows() -> None:
    query = select(
        "WITH a AS (SELECT k FROM x TIMESTAMP BY t1 UNION SELECT k FROM y TIMESTAMP BY t2) "
        "SELECT k, COUNT(*) FROM a GROUP BY k, Tumbling(mi, 1)"
    )
    assert query.input.sql == (
        "SELECT `k`, `t1` AS `muntin_time` FROM `x` UNION ALL SELECT `k`, `t2` AS `muntin_time` FROM `y`"
    )
    assert query.input.tables == ("x", "y")


def test_several_outputs_share_steps_without_semicolons() -> None:
    one, two, three = read(
        "WITH s AS (SELECT * FROM Input TIMESTAMP BY ts) SELECT COUNT(*) INTO [first out] FROM s GROUP BY Tumbling(mi, 1) "
        "SELECT * INTO second FROM s WHERE v > 1; SELECT MAX(v) FROM s GROUP BY Tumbling(mi, 2)"
    )
    assert [one.name, two.name, three.name] == ["first out", "second", "query 3"]
    assert one.selects[0].input == three.selects[0].input
    assert two.selects == ()
    assert two.reason == "it does not group by windows"
    assert two.spark == (
        "WITH `s` AS (SELECT *, `ts` AS `muntin_time` FROM `Input`) SELECT * EXCEPT (`muntin_time`) FROM `s` WHERE `v` > 1"
    )


AGGREGATES = {
    "COUNT(*)": Call("count"),
    "COUNT(v)": Call("count", ("`v`",)),
    "COUNT(DISTINCT v)": Call("count_distinct", ("`v`",)),
    "MIN(v + 1)": Call("min", ("`v` + 1",)),
    "Max(v)": Call("max", ("`v`",)),
    "SUM(CAST(v AS float))": Call("sum", ("CAST(`v` AS DOUBLE)",)),
    "AVG(v)": Call("avg", ("`v`",)),
    "STDEV(v)": Call("stddev", ("`v`",)),
    "STDEVP(v)": Call("stddev_pop", ("`v`",)),
    "VAR(v)": Call("variance", ("`v`",)),
    "VARP(v)": Call("var_pop", ("`v`",)),
    "PERCENTILE_CONT(0.95) OVER (ORDER BY v)": Call("percentile", ("`v`",), (("fraction", 0.95),)),
    "PERCENTILE_CONT(0.95) OVER (ORDER BY v DESC)": Call("percentile", ("`v`",), (("fraction", 0.05),)),
}


@pytest.mark.parametrize("text", AGGREGATES)
def test_aggregates_read(text: str) -> None:
    query = select(f"SELECT {text} AS a FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)")
    assert query.calls == (AGGREGATES[text],)
    assert query.outputs == (Output("`muntin_result_0`", "a"),)


def test_equal_aggregates_are_called_once_and_stand_in_expressions() -> None:
    query = select(
        "SELECT MAX(v) - MIN(v) AS spread, 2 * max([V]) AS twice FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1) "
        "HAVING MAX(v) > 3 AND spread < 7"
    )
    assert query.calls == (Call("max", ("`v`",)), Call("min", ("`v`",)), Call("max", ("`V`",)))
    assert query.outputs[0].sql == "`muntin_result_0` - `muntin_result_1`"
    assert query.having == "`muntin_result_0` > 3 AND (`muntin_result_0` - `muntin_result_1`) < 7"


def test_words_that_differ_become_sparks() -> None:
    query = select(
        "SELECT 'n' + k + '!' AS named, DATEDIFF(second, MIN(a), MAX(b)) AS d FROM t TIMESTAMP BY ts GROUP BY k, Tumbling(d, 1)"
    )
    assert query.outputs[0].sql == "'n' || `muntin_key_0` || '!'"
    assert query.outputs[1].sql == (
        "TIMESTAMPDIFF(SECOND, date_trunc('second', `muntin_result_0`), date_trunc('second', `muntin_result_1`))"
    )


def test_boundaries_are_chosen() -> None:
    for given, kept in ((None, "(]"), ("(]", "(]"), ("[)", "[)")):
        assert read(PAPER, boundaries=given)[0].selects[0].boundaries == kept  # type: ignore[arg-type]


def test_partitions_are_keys() -> None:
    text = "SELECT k, COUNT(*) FROM t PARTITION BY {} TIMESTAMP BY ts OVER k GROUP BY k, Tumbling(mi, 1)"
    assert select(text.format("K")).keys == ("`k`",)
    with pytest.raises(UnsupportedError, match="Add it to GROUP BY"):
        read(text.format("l"))


def test_clauses_and_alias_of_a_table_come_in_any_order() -> None:
    clauses = ["i", "PARTITION BY i.k", "TIMESTAMP BY i.ts"]
    texts = [" ".join(clauses[place:] + clauses[:place]) for place in range(3)]
    assert texts[0] != texts[1]
    queries = [select(f"SELECT i.k, COUNT(*) FROM t {text} GROUP BY i.k, Tumbling(mi, 1)") for text in texts]
    assert all(one == other for one, other in pairwise(queries))


def test_no_event_time_is_an_error() -> None:
    with pytest.raises(QueryError, match="TIMESTAMP BY column"):
        read("SELECT COUNT(*) FROM t GROUP BY TumblingWindow(mi, 1)")
