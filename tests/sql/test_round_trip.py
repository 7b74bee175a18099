"""What is written reads the same again: generated queries of every dialect, and those of the other tests."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.duration import Duration
from muntin.errors import UnsupportedError
from muntin.sqltext import read
from muntin.sqltext.statement import Call, Dialect, Input, Output, Select, Statement
from muntin.window import AnyWindow, Cumulating, Session, Snapshot, Window
from tests.sql.texts import VALID
from tests.sql.writing import write

WORDS = [
    "k",
    "device",
    "Größe",
    "select",
    "a`b",
    "x]y",
    'q"q',
    "two words",
    "order",
    "window_x",
    "漢字",
    "a.b",
    "$1",
    "it's",
]
UNITS = [1, 1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000]


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


columns = st.sampled_from(WORDS).map(quoted)
numbers = st.integers(0, 10**9).map(str) | st.sampled_from(["0.5", "12.25"])
texts = st.sampled_from(["'a'", "'it\\'s'", "''", "'漢'", "'--'", "'/*'", "'%_'"])


def conditions(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    compared = st.tuples(values, st.sampled_from(["=", "<>", "<", ">="]), values).map(" ".join)
    nulls = values.map("{} IS NULL".format)
    likes = st.tuples(values, texts).map(" LIKE ".join)
    within = st.tuples(values, numbers, numbers).map(lambda it: f"{it[0]} BETWEEN {it[1]} AND {it[2]}")
    single = compared | nulls | likes | within
    return (
        single
        | st.tuples(single, st.sampled_from([" AND ", " OR "]), single).map("".join)
        | single.map("NOT ({})".format)
    )


def whole(text: str) -> str:
    return f"({text})" if text.startswith(("(", "CASE")) or " - " in text else text


def expressions(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        added = st.tuples(inner, inner).map(lambda two: " - ".join(map(whole, two)))
        cases = st.tuples(conditions(inner), inner).map(lambda two: f"CASE WHEN {two[0]} THEN {two[1]} ELSE 0 END")
        called = inner.map("my_function({}, 1)".format)
        return added | cases | called

    return st.recursive(leaves, larger, max_leaves=4)


rows = expressions(columns | numbers)
lengths = st.tuples(st.integers(1, 90), st.sampled_from(UNITS)).map(lambda two: Duration(two[0] * two[1]))
ids = st.text(st.characters(exclude_characters="\x00\r\n", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@st.composite
def periodic(draw: st.DrawFn, id: str | None = None) -> Window:
    range = draw(lengths)
    slide = draw(st.sampled_from([range, Duration(max(1, range // 2)), Duration(max(1, range // 7))]))
    return Window(range, slide, Duration(draw(st.sampled_from([0, slide // 3]))), id)


@st.composite
def window_sets(draw: st.DrawFn, dialect: Dialect) -> tuple[AnyWindow, ...]:
    if dialect == "azure":
        kinds = periodic() | lengths.map(Session) | st.just(Snapshot())
        windows: list[Any] = draw(st.lists(kinds, min_size=1, max_size=4, unique=True))
        if draw(st.booleans()):
            names = draw(st.lists(ids, min_size=len(windows), max_size=len(windows), unique_by=str.casefold))
            windows = [_named(window, name) for window, name in zip(windows, names, strict=True)]
        return tuple(windows)
    steps = st.tuples(lengths, st.integers(1, 9)).map(lambda two: Cumulating(Duration(two[0] * two[1]), two[0]))
    return (
        draw(periodic() | lengths.map(Session) | steps if dialect == "flink" else periodic() | lengths.map(Session)),
    )


def _named(window: Any, id: str) -> Any:
    fields = window.to_dict()
    kind = {"periodic": Window, "session": Session, "snapshot": Snapshot}[fields.pop("kind", "periodic")]
    if kind is Window:
        return Window(window.range, window.slide, window.offset, id)
    return Session(window.gap, id=id) if kind is Session else Snapshot(id)


FUNCTIONS: dict[Dialect, list[str]] = {
    "azure": [
        "min",
        "max",
        "sum",
        "avg",
        "count",
        "count_distinct",
        "stddev",
        "stddev_pop",
        "variance",
        "var_pop",
        "percentile",
    ],
    "spark": [
        "min",
        "max",
        "sum",
        "avg",
        "count",
        "count_distinct",
        "stddev",
        "var_pop",
        "percentile",
        "median",
        "mode",
        "corr",
    ],
    "flink": ["min", "max", "sum", "avg", "count", "count_distinct", "stddev", "var_pop", "first", "last"],
}


@st.composite
def calls(draw: st.DrawFn, dialect: Dialect) -> Call:
    function = draw(st.sampled_from([*FUNCTIONS[dialect], "rows", *([] if dialect == "azure" else ["count_if"])]))
    if function == "rows":
        return Call("count")
    if function == "count_if":
        return Call("count_if", (draw(conditions(rows)),))
    arguments = tuple(
        draw(columns) if function == "count" else draw(rows) for _ in range(2 if function == "corr" else 1)
    )
    options = (
        (("fraction", draw(st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 0.999, 1.0]))),)
        if function == "percentile"
        else ()
    )
    return Call(function, arguments, options)


@st.composite
def inputs(draw: st.DrawFn, dialect: Dialect) -> Input:
    table = draw(st.sampled_from(WORDS))
    time = draw(columns)
    if draw(st.booleans()):
        return Input((table,), f"SELECT * FROM {quoted(table)}", time)
    kept = draw(conditions(columns))
    if draw(st.booleans()):
        return Input((table,), f"SELECT * FROM {quoted(table)} WHERE {kept}", time)
    step = f"WITH `step` AS (SELECT `v` + 1 AS `w`, `k` FROM {quoted(table)})"
    return Input((table,), f"{step} SELECT * FROM `step` WHERE {kept}", time)


@st.composite
def selects(draw: st.DrawFn, dialect: Dialect) -> Select:
    keys = tuple(draw(st.lists(columns | rows.filter(lambda text: "`" in text), max_size=3, unique_by=str.casefold)))
    asked = tuple(dict.fromkeys(draw(st.lists(calls(dialect), min_size=1, max_size=4))))
    leaves = [f"`muntin_key_{place}`" for place in range(len(keys))]
    results = [f"`muntin_result_{place}`" for place in range(len(asked))]
    ends = {"azure": ["`window`.`end`"], "flink": ["`window`.`start`", "`window`.`end`"]}
    ends["spark"] = [*ends["flink"], "`window`"]
    windows = draw(window_sets(dialect))
    if dialect == "azure":
        ends["azure"].append("`window_id`" if windows[0].id else "CAST(NULL AS STRING)")
    single = [*leaves, *results, *draw(st.lists(st.sampled_from(ends[dialect]), unique=True, max_size=2))]
    more = draw(st.lists(expressions(st.sampled_from([*leaves, *results])), max_size=2))
    known = [f"{word} of it" for word in WORDS] if dialect == "spark" else WORDS  # Spark groups by names that are given
    names = draw(st.lists(st.sampled_from([*known, *"bcdefghij"]), min_size=12, max_size=12, unique_by=str.casefold))
    outputs = tuple(Output(sql, name) for sql, name in zip([*single, *more], names, strict=False))
    where = draw(st.none() | conditions(rows))
    having = draw(st.none() | conditions(st.sampled_from([*leaves, *results])))
    return Select(
        draw(inputs(dialect)), windows, keys, asked, outputs, where, having, "(]" if dialect == "azure" else "[)"
    )


@pytest.mark.parametrize("dialect", ["azure", "spark", "flink"])
@given(data=st.data())
def test_generated_selects_read_the_same_again(dialect: Dialect, data: st.DataObject) -> None:
    select = data.draw(selects(dialect))
    text = write(select, dialect)
    ((again,),) = [statement.selects for statement in read(text, dialect)]
    assert again == select
    assert [window.id for window in again.windows] == [window.id for window in select.windows]


@pytest.mark.parametrize(("dialect", "text"), VALID)
def test_texts_read_the_same_again(dialect: Dialect, text: str) -> None:
    for statement in read(text, dialect):
        if statement.selects:
            (again,) = read(write(statement, dialect), dialect)
            assert (again.name, again.selects, again.order, again.limit) == (
                *(statement.name, statement.selects, statement.order, statement.limit),
            )


@pytest.mark.parametrize("dialect", ["azure", "flink"])
def test_steps_of_several_selects_are_written_once(dialect: Dialect) -> None:
    (one,) = read("SELECT max(v) AS m FROM (SELECT * FROM t WHERE v > 1) GROUP BY window(ts, '1 hour')")
    (two,) = read("SELECT max(v) AS m FROM (SELECT * FROM t WHERE v > 2) GROUP BY window(ts, '1 hour')")
    text = write(Statement("both", dialect, "", (*one.selects, *two.selects, *one.selects)), dialect)
    assert text.count("WHERE") == 2
    assert len(read(text, dialect, "[)")[0].selects) == 3


def test_what_a_dialect_has_no_words_for_is_refused() -> None:
    (statement,) = read("SELECT window, median(v) FROM t GROUP BY window(ts, '1 hour')")
    for dialect in ("azure", "flink"):
        with pytest.raises(UnsupportedError, match="no words"):
            write(statement.selects[0], dialect)
    with pytest.raises(UnsupportedError, match="in Spark SQL only"):
        write(Statement("a", "spark", "SELECT 1", (), "SELECT 1"), "flink")
