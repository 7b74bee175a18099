"""Spark SQL: windows in GROUP BY, what is left to Spark and why, and names of all kinds."""

import pytest

from muntin.errors import QueryError
from muntin.sqltext import read
from muntin.sqltext.statement import Call, Output, Select, Statement
from muntin.window import hopping, session_window, tumbling


def one(text: str) -> Statement:
    (statement,) = read(text, "spark")
    return statement


def select(text: str) -> Select:
    statement = one(text)
    assert statement.reason == ""
    (only,) = statement.selects
    return only


WINDOWS = {
    "window(ts, '10 minutes')": tumbling("10 min"),
    "WINDOW(`ts`, \"10 minutes\", '10 minutes')": tumbling("10 min"),
    "window(ts, '10 minutes', '5 minutes')": hopping("10 min", "5 min"),
    "window(t.ts, '1 week', '1 day', '-3 hours')": hopping("7 d", "1 d", offset="-3 h"),
    "window(ts, '1 hour 30 minutes')": tumbling("90 min"),
    "window(ts, 'interval 5 seconds')": tumbling("5 s"),
    "window(ts, 5000000)": tumbling("5 s"),
    "session_window(ts, '5 minutes')": session_window("5 min"),
}


@pytest.mark.parametrize("form", WINDOWS)
def test_every_form_of_a_window_reads(form: str) -> None:
    query = select(f"SELECT k, count(*) FROM t GROUP BY k, {form}")
    assert query.windows == (WINDOWS[form],)
    assert (query.keys, query.calls, query.input.time) == (("`k`",), (Call("count"),), "`ts`")
    assert query.boundaries == "[)"


def test_a_window_is_selected_whole_or_by_its_ends() -> None:
    ends = "window, window.start, Window.END AS e, window(ts, '1 hour').start AS s"
    query = select(f"SELECT {ends}, sum(v) FROM x GROUP BY window(ts, '1 hour')")
    assert query.outputs == (
        Output("`window`", "window"),
        Output("`window`.`start`", "start"),
        Output("`window`.`end`", "e"),
        Output("`window`.`start`", "s"),
        Output("`muntin_result_0`", None),
    )
    query = select("SELECT session_window.end, max(v) AS m FROM x GROUP BY session_window(ts, '1 hour')")
    assert query.outputs[0] == Output("`window`.`end`", "end")


def test_group_by_takes_numbers_names_and_expressions() -> None:
    query = select("SELECT date(ts) AS d, upper(k), window(ts, '1 day') AS w, count(*) FROM t GROUP BY d, 2, w")
    assert query.keys == ("date(`ts`)", "upper(`k`)")
    assert [output.sql for output in query.outputs] == [
        "`muntin_key_0`",
        "`muntin_key_1`",
        "`window`",
        "`muntin_result_0`",
    ]
    query = select("SELECT upper(k) AS k, sum(v) AS v FROM t GROUP BY k, window(ts, '1 day')")
    assert (query.keys, query.outputs[0]) == (("`k`",), Output("upper(`muntin_key_0`)", "k"))
    query = select("SELECT (K % 3) * 2 AS x, count(*) FROM t GROUP BY k % 3, window(ts, '1 day')")
    assert query.outputs[0] == Output("`muntin_key_0` * 2", "x")


AGGREGATES = {
    "count(1)": Call("count"),
    "mean(v)": Call("avg", ("`v`",)),
    "std(v)": Call("stddev", ("`v`",)),
    "stddev_samp(v)": Call("stddev", ("`v`",)),
    "var_pop(v)": Call("var_pop", ("`v`",)),
    "corr(v, w)": Call("corr", ("`v`", "`w`")),
    "max_by(v, w)": Call("max_by", ("`v`", "`w`")),
    "every(v > 1)": Call("bool_and", ("`v` > 1",)),
    "any(v > 1)": Call("bool_or", ("`v` > 1",)),
    "count_if(v > 1)": Call("count_if", ("`v` > 1",)),
    "median(v)": Call("median", ("`v`",)),
    "mode(v)": Call("mode", ("`v`",)),
    "percentile(v, 0.9)": Call("percentile", ("`v`",), (("fraction", 0.9),)),
    "percentile_cont(0.25) WITHIN GROUP (ORDER BY v DESC)": Call("percentile", ("`v`",), (("fraction", 0.75),)),
    "min(DISTINCT v)": Call("min", ("`v`",)),
    "count(DISTINCT v)": Call("count_distinct", ("`v`",)),
    "count(*) FILTER (WHERE v > 1)": Call("count_if", ("`v` > 1",)),
    "count_if(w) FILTER (WHERE v > 1)": Call("count_if", ("(`v` > 1) AND (`w`)",)),
    "sum(v) FILTER (WHERE w)": Call("sum", ("CASE WHEN `w` THEN `v` END",)),
    "min_by(v, u) FILTER (WHERE w)": Call("min_by", ("`v`", "CASE WHEN `w` THEN `u` END")),
}


@pytest.mark.parametrize("text", AGGREGATES)
def test_aggregates_read(text: str) -> None:
    assert select(f"SELECT {text} FROM t GROUP BY window(ts, '1 hour')").calls == (AGGREGATES[text],)


LEFT_TO_SPARK = {
    "SELECT * FROM t": "it does not group by windows",
    "SELECT k, count(*) FROM t GROUP BY k": "it does not group by windows",
    "SELECT a.k, count(*) FROM a JOIN b ON a.k = b.k GROUP BY a.k, window(ts, '1 hour')": "it joins tables",
    "SELECT a.k, count(*) FROM a, b GROUP BY a.k, window(ts, '1 hour')": "it joins tables",
    "SELECT collect_list(v) FROM t GROUP BY window(ts, '1 hour')": "collect_list is not shared over windows",
    "SELECT approx_count_distinct(v) FROM t GROUP BY window(ts, '1 hour')": "approx_count_distinct is not shared over windows",
    "SELECT sum(DISTINCT v) FROM t GROUP BY window(ts, '1 hour')": "sum of distinct values is not shared over windows",
    "SELECT count(DISTINCT a, b) FROM t GROUP BY window(ts, '1 hour')": "count of distinct values is not shared over windows",
    "SELECT my_sum(v) FROM t GROUP BY window(ts, '1 hour')": "my_sum is not an aggregate that is known here",
    "SELECT v FROM t GROUP BY window(ts, '1 hour')": "'v' is neither a key of GROUP BY nor in an aggregate",
    "SELECT DISTINCT k FROM t GROUP BY k, window(ts, '1 hour')": "it has DISTINCT",
    "SELECT k FROM t GROUP BY CUBE(k), window(ts, '1 hour')": "it groups by several sets of keys",
    "SELECT k FROM t GROUP BY GROUPING SETS ((k), ()), window(ts, '1 hour')": "it groups by several sets of keys",
    "SELECT sum(count(*)) OVER () FROM t GROUP BY window(ts, '1 hour')": "an aggregate stands within another",
    "SELECT rank() OVER (ORDER BY count(*)) FROM t GROUP BY window(ts, '1 hour')": "it has a frame with OVER",
    "SELECT k FROM t GROUP BY k, window(ts, '1 hour') UNION SELECT k FROM t GROUP BY k, window(ts, '2 hours')": (
        "UNION removes rows that are equal"
    ),
    "SELECT k FROM t GROUP BY k, window(ts, '1 hour') UNION ALL SELECT k FROM t": "a part of it has no windows",
    "SELECT k FROM t WHERE v IN (SELECT v FROM u) GROUP BY k, window(ts, '1 hour')": "it has a query within an expression",
    "SELECT k FROM t GROUP BY k, window(ts, '1 hour') ORDER BY max(v)": "it orders by what it does not select",
    "SELECT k FROM t GROUP BY k, window(ts, '1 hour') LIMIT 5 OFFSET 3": "it has OFFSET",
    "SELECT k FROM t TABLESAMPLE (5 ROWS) GROUP BY k, window(ts, '1 hour')": "a table has more than a name",
    "SELECT k FROM t LATERAL VIEW explode(xs) AS x GROUP BY k, window(ts, '1 hour')": "it has a LATERAL VIEW",
    "SELECT k FROM range(10) GROUP BY k, window(ts, '1 hour')": "it reads a table function",
    "SELECT count(*) FROM t GROUP BY session_window(ts, if(v > 1, '1 hour', '2 hours'))": "a length of a window is no constant",
    "SELECT count(*) FROM t GROUP BY window(ts, '1 hour'), session_window(ts, '1 hour')": "it groups by two windows at once",
    "SELECT count(*) FROM (SELECT window FROM t GROUP BY window(ts, '1 hour')) GROUP BY window(window, '2 hours')": (
        "it makes windows of windows"
    ),
    "SELECT b AS a, count(*) FROM t GROUP BY a, b, window(ts, '1 hour')": "'a' may be a column or a name that SELECT gives",
    "SELECT upper(k) AS k, count(*) FROM t GROUP BY k, window(ts, '1 hour') HAVING k = 'A'": (
        "HAVING has 'k', which is a key and the name of something else"
    ),
    "SELECT count(*) FROM t GROUP BY window(ts, INTERVAL '5' SECONDS)": "a length of a window is no constant",
    "SELECT first(v) FROM t GROUP BY window(ts, '1 hour')": "first is not shared over windows",
}


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_what_does_not_fit_is_left_to_spark_with_the_reason(text: str) -> None:
    statement = one(text)
    assert (statement.selects, statement.spark, statement.reason) == ((), text, LEFT_TO_SPARK[text])


def test_unions_are_selects_with_one_order_and_limit() -> None:
    statement = one(
        "SELECT k, window.start AS s, sum(v) AS x FROM t GROUP BY k, window(ts, '1 hour') UNION ALL "
        "(SELECT k, window.start, max(v) FROM u GROUP BY k, window(at, '2 hours')) "
        "ORDER BY s DESC, 3, x + 1 NULLS LAST LIMIT 10"
    )
    first, second = statement.selects
    assert (first.input.tables, second.input.tables) == (("t",), ("u",))
    assert (first.input.time, second.input.time) == ("`ts`", "`at`")
    assert statement.order == ("`s` DESC", "`x`", "`x` + 1 NULLS LAST")
    assert statement.limit == 10


def test_inputs_are_queries_with_their_steps() -> None:
    query = select(
        "WITH a AS (SELECT * FROM raw), b AS (SELECT k, v, ts FROM a WHERE v > 0) "
        "SELECT x.k, sum(x.v) FROM (SELECT * FROM b UNION ALL SELECT * FROM db.c) AS x GROUP BY x.k, window(x.ts, '1 hour')"
    )
    assert query.input.sql == (
        "WITH `a` AS (SELECT * FROM `raw`), `b` AS (SELECT `k`, `v`, `ts` FROM `a` WHERE `v` > 0) "
        "SELECT * FROM `b` UNION ALL SELECT * FROM `db`.`c`"
    )
    assert query.input.tables == ("raw", "db.c") or query.input.tables == ("db.c", "raw")
    assert query.calls == (Call("sum", ("`v`",)),)


def test_having_knows_names_and_aggregates() -> None:
    query = select(
        "SELECT k, sum(v) - 1 AS s FROM t GROUP BY k, window(ts, '1 hour') HAVING s * 2 > 3 AND max(v) < 9 AND k <> 'a'"
    )
    assert query.having == "(`muntin_result_0` - 1) * 2 > 3 AND `muntin_result_1` < 9 AND `muntin_key_0` <> 'a'"


def test_statements_have_names_and_views_are_steps() -> None:
    text = """
-- name: daily totals
SELECT k, sum(v) FROM v1 GROUP BY k, window(ts, '1 day');
CREATE OR REPLACE TEMPORARY VIEW v1 AS
    -- with a comment
    SELECT * FROM raw WHERE ok;
CREATE VIEW `v 2` AS WITH w AS (SELECT * FROM V1) SELECT k, v, ts FROM w;
SELECT k, count(*) FROM `v 2` GROUP BY k, window(ts, '1 day');
"""
    one, two, three, four = read(text)
    assert [one.name, two.name, three.name, four.name] == ["daily totals", "v1", "v 2", "query 4"]
    assert one.selects[0].input.tables == ("v1",)  # the view is defined later
    assert two.spark == "SELECT * FROM raw WHERE ok"
    assert three.spark == "WITH `v1` AS (SELECT * FROM raw WHERE ok), w AS (SELECT * FROM V1) SELECT k, v, ts FROM w"
    assert four.selects[0].input.tables == ("raw",)
    assert four.spark is not None
    assert four.spark.startswith("WITH `v1` AS (SELECT * FROM raw WHERE ok), `v 2` AS (WITH w AS")
    with pytest.raises(QueryError, match="two statements are called 'A'"):
        read("-- name: a\nSELECT 1; -- name: A\nSELECT 2")


NAMES = [
    "a`b",
    "select",
    "größe 漢字 😀",
    "x'; DROP TABLE t; --",
    'say "hi"',
    "[x]",
    "a.b",
    " ",
    "\\",
    "-- name: x",
    "/*",
    "${x}",
]


@pytest.mark.parametrize("name", NAMES)
def test_strange_names_are_quoted_all_the_way(name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    query = select(
        f"SELECT {quoted}.{quoted} AS {quoted}, max({quoted}) FROM {quoted} WHERE {quoted} > 1 "
        f"GROUP BY {quoted}, window({quoted}, '1 hour')"
    )
    assert query.input.tables == (name,)
    assert (query.input.sql, query.input.time) == (f"SELECT * FROM {quoted}", quoted)
    assert (query.keys, query.where, query.calls) == ((quoted,), f"{quoted} > 1", (Call("max", (quoted,)),))
    assert query.outputs[0] == Output("`muntin_key_0`", name)
    bracket = "[" + name.replace("]", "]]") + "]"
    ((azure,),) = [
        statement.selects
        for statement in read(
            f"SELECT {bracket}, MAX({bracket}) FROM {bracket} TIMESTAMP BY {bracket} GROUP BY {bracket}, Tumbling(d, 1)",
            "azure",
        )
    ]
    assert (azure.input, azure.keys, azure.calls) == (query.input, query.keys, query.calls)
    assert azure.outputs[0].name == name


def test_texts_of_other_editors_read() -> None:
    text = "SELECT k, count(*) FROM t\r\nGROUP BY k, window(ts, '1 hour')\r\n"
    assert read("\ufeff" + text)[0].selects == read(text)[0].selects == read(text.replace("\r\n", "\n"))[0].selects


def test_texts_cannot_leave_their_quotes() -> None:
    for value in ("it''s", "\\\\", "a\\'b", "`", '"', "--", "${x}", "\n"):
        query = select(f"SELECT k FROM t WHERE v = '{value}' GROUP BY k, window(ts, '1 hour')")
        again = select(f"SELECT k FROM t WHERE {query.where} GROUP BY k, window(ts, '1 hour')")
        assert again == query


def test_functions_are_kept_as_they_are_written() -> None:
    text = (
        "transform(xs, x -> x + 1), Date_Trunc('hour', ts), datediff(a, b), timestampdiff(SECOND, a, b), "
        "nvl(a, b), if(a, 1, 2), extract(year FROM ts), s.a.b, xs[0], m['k'], a || b, a <=> b, a DIV b, decode(a, 1, 2)"
    )
    query = select(f"SELECT count(*) FROM t GROUP BY {text}, window(ts, '1 hour')")
    assert (
        ", ".join(query.keys)
        == (
            "transform(`xs`, `x` -> `x` + 1), Date_Trunc('hour', `ts`), DATEDIFF(`a`, `b`), TIMESTAMPDIFF(SECOND, `a`, `b`), "
            "nvl(`a`, `b`), if(`a`, 1, 2), EXTRACT(YEAR FROM `ts`), `s`.`a`.`b`, `xs`[0], `m`['k'], `a` || `b`, `a` <=> `b`, "
            "`a` DIV `b`, decode(`a`, 1, 2)"
        )
        or query.keys
    )
