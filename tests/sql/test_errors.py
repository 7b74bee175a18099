"""Errors: where the caret stands, what is said, and what may have been meant."""

import pytest

from muntin.errors import MuntinError, QueryError, UnsupportedError
from muntin.sqltext import point, read

AZURE = "SELECT k, COUNT(*) AS n FROM t TIMESTAMP BY ts GROUP BY k, "
TABLE = "SELECT SUM(v) FROM TABLE({}) GROUP BY window_start, window_end"

WRONG = [
    # Azure
    (AZURE + "TumblingWindow(minuts, 5)", "minuts", "'minuts' is no unit of time. Did you mean 'minute'?"),
    (AZURE + "TumblingWindow(week, 1)", "week", "'week' is no unit of time."),
    (AZURE + "TumblngWindow(minute, 5)", "TumblngWindow", "Did you mean 'TumblingWindow'?"),
    (AZURE + "Windows(TumblingWindo(minute, 5))", "TumblingWindo", "Did you mean 'TumblingWindow'?"),
    (AZURE + "HoppingWindow(minute, 5)", "HoppingWindow", "HoppingWindow lacks hop. It takes"),
    (AZURE + "HoppingWindow(minute, 5, 10)", "HoppingWindow", "slide 10m exceeds range 5m"),
    (AZURE + "TumblingWindow(minute, 1, 2, 3)", "3)", "has an argument too many"),
    (AZURE + "TumblingWindow(minute, 0)", "TumblingWindow", "range 0s is not positive"),
    (AZURE + "TumblingWindow(minute, 1.5)", "1.5", "a whole number is expected here"),
    (AZURE + "TumblingWindow(minute, size)", "size", "lengths of windows are constants"),
    (AZURE + "TumblingWindow(Duration(minute, 5), Ofset(minute, 1))", "Ofset", "Did you mean 'Offset'?"),
    (AZURE + "TumblingWindow(Hop(minute, 5))", "Hop", "a unit of time is expected here"),
    (AZURE + "SnapshotWindow(minute)", "minute", "takes no arguments"),
    (AZURE + "Windows()", "Windows", "Windows(…) has no windows"),
    (AZURE + "Windows(Windows(Tumbling(mi, 1)))", "Windows(Tumbling", "stands within another"),
    (AZURE + "Window('a', Tumbling(mi, 1))", "Window(", "stands within Windows(…)"),
    (AZURE + "Windows(Window('a', Tumbling(mi, 1)), Tumbling(mi, 2))", "Tumbling(mi, 2)", "on all windows or on none"),
    (AZURE + "Windows(Window('a', Tumbling(mi, 1)), Window('A', Tumbling(mi, 2)))", "Window('A'", "'A' is given twice"),
    (AZURE + "Windows(Window('', Tumbling(mi, 1)))", "''", "id is empty"),
    (AZURE + "Windows(Window(a, Tumbling(mi, 1)))", "Window(a", "takes an id in quotes"),
    (AZURE + "Tumbling(mi, 1), Tumbling(mi, 2)", "Tumbling(mi, 2)", "Write them as Windows(…, …)"),
    (AZURE + "Tumbling(mi, 1) OVER (PARTITION BY k)", "Tumbling", "only SessionWindow takes OVER"),
    ("SELECT v, COUNT(*) FROM t TIMESTAMP BY ts GROUP BY k, Tumbling(mi, 1)", "v, C", "'v' is neither a key of GROUP BY"),
    ("SELECT Mni(v) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "Mni", "Did you mean 'min'?"),
    ("SELECT MAX(MIN(v)) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "MIN", "stands within another"),
    ("SELECT MAX(v, w) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "MAX", "MAX takes 1 argument, not 2"),
    ("SELECT COUNT(*) FROM t TIMESTAMP BY ts WHERE MAX(v) > 1 GROUP BY Tumbling(mi, 1)", "MAX", "Use HAVING"),
    ("SELECT * FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "*", "name keys, aggregates and the window"),
    ("SELECT System.Window() FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "System", "System.Window().Id"),
    ("SELECT COUNT(*) FROM t GROUP BY TumblingWindow(mi, 1)", "t GROUP", "Write TIMESTAMP BY column after the table"),
    ("SELECT System.Timestamp() FROM t", "System", "Write TIMESTAMP BY column after the table"),
    ("SELECT COUNT(*) FROM t TIMESTAMP BY ts GROUP BY k", "k", "GROUP BY has no window"),
    ("SELECT k, 1 + COUNT(*) FROM t TIMESTAMP BY ts", "COUNT", "aggregates need windows. Add GROUP BY"),
    ("SELECT COUNT(*) FROM t TIMESTAMP BY GROUP BY Tumbling(mi, 1)", "GROUP", "expected the event time"),
    ("SELECT COUNT(*) FROM t TIMESTAMP BY a TIMESTAMP BY b GROUP BY Tumbling(mi, 1)", "TIMESTAMP BY b", "appears twice"),
    # Spark
    ("SELECT count(*) FROM t GROUP BY window(ts, '10 minuts')", "'10 minuts'", "Did you mean 'minutes'?"),
    ("SELECT count(*) FROM t GROUP BY window(ts, '1 month')", "'1 month'", "has no fixed length. Use days"),
    ("SELECT count(*) FROM t GROUP BY k, windw(ts, '1 hour')", "windw", "Did you mean 'window'?"),
    ("SELECT count(*) FROM t GROUP BY sesion_window(ts, '1 hour')", "sesion", "Did you mean 'session_window'?"),
    ("SELECT count(*) FROM t GROUP BY window(ts)", "window", "window takes a time, a length"),
    ("SELECT window.strat FROM t GROUP BY window(ts, '1 hour')", "window", "Did you mean 'start'?"),
    ("SELECT k FROM t WHERE (a > 1", "", "expecting )"),
    ("SELECT k\nFROM t\nWHERE x = 'abc", "'abc", "a closing ' is missing"),
    ("SELECT k INTO o FROM t", "o FROM", "Name a statement with -- name"),
    ("DELETE FROM t", "DELETE", "a SELECT is expected here"),
    ("SELECT 1; DROP TABLE t", "DROP", "a SELECT is expected here"),
    ("CREATE TABLE t AS SELECT 1", "CREATE", "only CREATE VIEW name AS SELECT is read"),
    ("CREATE VIEW v SELECT 1", "CREATE", "a view lacks AS"),
    ("SELEC k FROM t", "SELEC", "Did you mean 'SELECT'?"),
    # Flink
    (TABLE.format("TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTS)"), "'10'", "Did you mean 'minutes'?"),
    (TABLE.format("TUMBLE(TABLE t, INTERVAL '10' MINUTES)"), "'10'", "DESCRIPTOR(column)"),
    (TABLE.format("TUMBLE(t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)"), "t, ", "takes a table first: TABLE name"),
    (TABLE.format("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)"), "HOP", "HOP lacks size"),
    (TABLE.format("TUMBEL(t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)"), "TUMBEL", "Did you mean 'tumble'?"),
    (TABLE.format("TUMBLE(TABLE t, DESCRIPTOR(ts), SIZ => INTERVAL '1' DAY)"), "SIZ", "Did you mean 'size'?"),
    (TABLE.format("TUMBLE(TABLE t, DESCRIPTOR(ts), 10)"), "10", "an interval is expected here"),
    ("SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start", "window_start",
     "GROUP BY lacks window_end"),
    ("SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", "TUMBLE_START",
     "another window than GROUP BY has"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "message"), WRONG)
def test_an_error_points_to_the_place_and_says_what_is_meant(text: str, at: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        read(text)
    place = text.index(at) if at else len(text)
    _check_caret(str(raised.value), text, place)
    assert message in str(raised.value)


NOT_DONE = [
    (AZURE + "SlidingWindow(minute, 5)", "SlidingWindow", "mt.rolling"),
    (AZURE + "Windows(Sliding(Duration(minute, 5)))", "Sliding", "mt.rolling"),
    (AZURE + "SessionWindow(minute, 5)", "SessionWindow", "OVER (PARTITION BY key)"),
    ("SELECT CollectTop(2) OVER (ORDER BY v) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "CollectTop", "COLLECTTOP is not"),
    ("SELECT Collect() FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "Collect", "COLLECT is not supported"),
    ("SELECT TopOne() OVER (ORDER BY v) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "TopOne", "TOPONE is not supported"),
    ("SELECT SUM(v) OVER (ORDER BY v) FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)", "SUM", "Leave that out"),
    ("SELECT COUNT(*) FROM a TIMESTAMP BY ts JOIN b TIMESTAMP BY ts ON a.k = b.k GROUP BY Tumbling(mi, 1)", "b T", "joins tables"),
    ("WITH s AS (SELECT COUNT(*) AS n FROM t TIMESTAMP BY ts GROUP BY Tumbling(mi, 1)) SELECT SUM(n) FROM s "
     "GROUP BY Tumbling(mi, 2)", "Tumbling(mi, 1)", "has windows or aggregates itself"),
    ("WITH s AS (SELECT a.k FROM a TIMESTAMP BY ts JOIN b TIMESTAMP BY ts ON a.k = b.k) SELECT COUNT(*) FROM s "
     "GROUP BY Tumbling(mi, 2)", "b T", "mt.join"),
    ("SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) WHERE LISTAGG(v) = 1 "
     "GROUP BY window_start, window_end", "*", "name keys"),
    ("SELECT LISTAGG(v) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY)", "LISTAGG", "LISTAGG is not supported"),
    ("SELECT TUMBLE_PROCTIME(ts, INTERVAL '1' DAY) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY)", "TUMBLE_P", "ROWTIME"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "message"), NOT_DONE)
def test_what_is_not_done_says_what_to_do_instead(text: str, at: str, message: str) -> None:
    with pytest.raises((UnsupportedError, QueryError)) as raised:
        read(text)
    _check_caret(str(raised.value), text, text.index(at))
    assert message in str(raised.value)


def _check_caret(message: str, text: str, place: int) -> None:
    first, shown, caret = message.splitlines()
    line = text.count("\n", 0, place)
    column = place - (text.rfind("\n", 0, place) + 1)
    assert first.startswith(f"line {line + 1}, column {column + 1}: ")
    under = caret.index("^") - 2
    whole = text.splitlines()[line]
    assert len(shown) <= 80
    assert shown[2:].strip("…") in whole
    assert whole[column : column + 5] == shown[2:][under : under + 5] or column == len(whole)


def test_a_caret_stands_under_wide_characters_and_tabs() -> None:
    assert point("a\t漢e\u0301 x", 6, "m").splitlines()[2] == "   \t    ^"
    assert point("", 5, "m") == "line 1, column 1: m\n  \n  ^"
    message = point("x" * 500, 250, "m").splitlines()
    assert message[0] == "line 1, column 251: m"
    assert len(message[1]) < 110


def test_an_error_of_the_second_statement_has_its_own_line() -> None:
    with pytest.raises(QueryError, match="line 3, column 25"):
        read("-- a comment\nSELECT count(*) FROM t GROUP BY window(ts, '1 hour');\nSELECT count(*) FROM t  )x")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3,), "no text of SQL"),
        (("",), "no statement"),
        ((" ; -- nothing\n;",), "no statement"),
        (("SELECT 1", "flik"), "Did you mean 'flink'?"),
        (("SELECT 1", None, "[]"), "Use one of '[)', '(]'"),
        (("SELECT " + "(" * 500,), "more than 50 brackets"),
        (("SELECT " + "NOT " * 5000 + "x",), "nested too deeply"),
        (("SELECT 1 FROM a" + " JOIN a" * 100,), "too many ways"),
        (("x" * 300_000,), "300,000 characters"),
        ((";".join(["SELECT 1"] * 501),), "more than 500 statements"),
    ],
)
def test_other_mistakes_are_query_errors(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(MuntinError) as raised:
        read(*arguments)  # type: ignore[arg-type]
    assert message in str(raised.value)
