"""Texts of full length that make careless patterns read them again and again.

A limit of a second is for what takes a few hundredths: on a busy machine it holds, for a quadratic pattern it does not.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import pytest

from muntin.errors import MuntinError, QueryError
from muntin.expressions import renumbered, written
from muntin.hints import hint, meant
from muntin.sentences import error_of_worker, sentence_of
from muntin.sqltext import did_you_mean, place_of_name, read, read_for_spark
from muntin.sqltext.reading import LONGEST_TEXT
from muntin.sqltext.recognition import recognise
from muntin.sqltext.statement import Dialect
from muntin.window.text import parse_window, parse_windows

PARTS = [
    "\\'",
    "'",
    "''",
    '"',
    "`",
    "[",
    "--",
    "/*",
    "\\",
    "-- name: ",
    "Tumbling(",
    "Windows ",
    "System . ",
    "TIMESTAMP ",
    "TUMBLE ",
    "1",
    "1.",
    "1e",
    "LambdaFunction(",
    "LambdaFunction(a, ",
    "(x_1, ",
]
PREFIXES = ["", "SELECT ", "SELECT '", 'SELECT "', "SELECT `"]
DIALECTS: list[Dialect] = ["spark", "azure", "flink"]


@dataclass
class Column:
    """A Spark column, as far as its text goes."""

    text: str

    def __str__(self) -> str:
        return f"Column<'{self.text}'>"


@contextlib.contextmanager
def seconds(limit: float) -> Iterator[None]:
    """Check how much of the processor something takes."""
    start = process_time()
    with contextlib.suppress(MuntinError):
        yield
    assert process_time() - start < limit


@pytest.mark.parametrize("part", PARTS)
def test_patterns_are_matched_in_linear_time(part: str) -> None:
    for prefix in PREFIXES:
        with seconds(1):
            recognise((prefix + part * LONGEST_TEXT)[:LONGEST_TEXT])
    text = (part * LONGEST_TEXT)[:LONGEST_TEXT]
    for scan in (renumbered, sentence_of, lambda text: written(Column(text))):
        with seconds(2):
            scan(text)


@pytest.mark.parametrize("part", PARTS)
def test_texts_of_full_length_are_read_or_refused_in_linear_time(part: str) -> None:
    """Tokens alone take some tenths of a second here, in Python; what is quadratic takes minutes."""
    with seconds(10):
        read(("SELECT " + part * LONGEST_TEXT)[:LONGEST_TEXT])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_texts_are_read_or_refused_in_linear_time(dialect: Dialect, part: str) -> None:
    for prefix in PREFIXES:
        with seconds(2):
            read((prefix + part * 10_000)[:10_000], dialect)


@pytest.mark.parametrize("text", ["-- name:" + " " * 200_000 + "\nSELECT 1", "\\'" * 100_000])
def test_comments_and_quotes_are_read_or_refused_in_linear_time(text: str) -> None:
    with seconds(10):
        read(text)


KEYED = "GROUP BY k, window(ts, '1 hour')"
MANY = range(1_000)
STATEMENTS: dict[str, tuple[Dialect, str]] = {
    "names of names": (
        "spark",
        "SELECT k + k AS a0, " + ", ".join(f"a{i} + a{i} AS a{i + 1}" for i in range(40)) + f" FROM t {KEYED}",
    ),
    "a name again and again": ("spark", f"SELECT {'k + ' * 1_000} k AS x FROM t {KEYED} HAVING {'x + ' * 1_000} x > 0"),
    "a sum beside a key that is one": (
        "spark",
        f"SELECT {'k + ' * 1_000} k AS x FROM t GROUP BY k, k + 1, window(ts, '1 hour')",
    ),
    "a key again and again": (
        "spark",
        f"SELECT {'k + ' * 1_000} k AS x FROM t GROUP BY {'x, ' * 1_000} window(ts, '1 hour')",
    ),
    "a number again and again": (
        "spark",
        f"SELECT {'k + ' * 1_000} k AS x FROM t GROUP BY {'1, ' * 1_000} window(ts, '1 hour')",
    ),
    "an order of many": (
        "spark",
        f"SELECT {', '.join(f'max(v + {i}) AS m{i}' for i in MANY)} FROM t {KEYED} "
        f"ORDER BY {', '.join(f'm{i}' for i in MANY)}",
    ),
    "a chain of queries": ("spark", f"SELECT 1 FROM (SELECT {'(SELECT 1) + ' * 1_000} 1 AS k FROM t) {KEYED}"),
    "a chain of names": ("spark", f"SELECT max({'t.a + ' * 1_000} 1) AS k FROM (SELECT * FROM t) AS t {KEYED}"),
    "a chain of +": ("azure", f"SELECT {'k + ' * 1_000} k AS x FROM t TIMESTAMP BY ts GROUP BY k, Tumbling(hour, 1)"),
    "a long event time": (
        "azure",
        f"SELECT COUNT(*) AS x FROM t TIMESTAMP BY {'ts + ' * 1_000} ts "
        f"WHERE {'System.Timestamp() + ' * 500} 1 > 0 GROUP BY k, Tumbling(hour, 1)",
    ),
    "many partitions": (
        "azure",
        f"SELECT COUNT(*) AS c FROM t PARTITION BY {'z, ' * 1_000} z TIMESTAMP BY ts "
        f"GROUP BY {', '.join(f'a{i}' for i in MANY)}, z, Tumbling(hour, 1)",
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_are_read_or_refused_in_linear_time(name: str) -> None:
    """Each takes some tenths of a second; what is quadratic or worse takes from ten to any number."""
    dialect, text = STATEMENTS[name]
    with seconds(5):
        read(text, dialect)


def test_names_of_names_are_left_to_spark() -> None:
    (statement,) = read(STATEMENTS["names of names"][1])
    assert statement.reason == "the expression that 'a10' stands for is repeated too often"


def test_the_steps_of_all_statements_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.sqltext.inputs.MOST_WRITTEN", 1_000)
    query = f"SELECT count(*) AS n FROM long {KEYED};"
    view = f"CREATE VIEW long AS SELECT ts, {'k + ' * 20} k AS k FROM t;"
    assert len(read(view + query)) == 2
    with pytest.raises(QueryError, match=r"make more than 1,000 characters in the statements that read them"):
        read(view + query * 5)


def test_a_text_has_an_end_of_words() -> None:
    with pytest.raises(QueryError, match=r"the text has 60,001 words and signs. Use at most 50,000"):
        read("SELECT " + "1," * 30_000)


def test_long_names_are_not_compared() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
    with seconds(1):
        assert did_you_mean(letters * 200, [letters * 199, "v"]) == ""
        assert did_you_mean("temperatur", [letters * 199, "temperature"]) == " Did you mean 'temperature'?"
        assert meant(letters * 200, [letters * 199]) == hint(letters * 200, ["sum"]) == ""


def test_a_text_is_read_once_for_many_names() -> None:
    text = "SELECT " + ", ".join(f"a{i}" for i in range(5_000))
    with seconds(5):
        assert [place_of_name(text, f"b{i}", "spark") for i in range(500)] == [None] * 500


def test_bare_lengths_are_found_in_linear_time() -> None:
    with seconds(5), pytest.raises(QueryError, match=r"has no unit of time"):
        parse_windows(", ".join(map(str, range(1, 20_000))) + ", 1 hour")


def test_the_sentence_of_an_error_is_found_in_linear_time() -> None:
    for text in ("x" + " " * LONGEST_TEXT + "x", "Traceback (most recent call last):\nmuntin." + "a" * LONGEST_TEXT):
        with seconds(1):
            sentence_of(text)
            error_of_worker(RuntimeError(text))


def test_lambda_arguments_are_found_where_they_nest() -> None:
    nested = "LambdaFunction(f(x_7, LambdaFunction(+(x_7, y_9), y_9)), x_7)"
    assert renumbered(nested) == "LambdaFunction(f(x_1, LambdaFunction(+(x_1, y_2), y_2)), x_1)"


def test_quotes_hide_the_words_of_a_dialect() -> None:
    assert recognise("SELECT 'TUMBLE(', \"TUMBLE(\", `TUMBLE(`, 'x\\'TUMBLE(', 'x''TUMBLE('") == "spark"
    assert recognise("SELECT 'x\\\\' FROM t GROUP BY TUMBLE(ts)") == "flink"
    assert recognise("SELECT * FROM [one row`] TIMESTAMP BY t") == "azure"


def test_the_text_of_a_window_has_an_end() -> None:
    with pytest.raises(QueryError, match=r"the window '1 by 1 by 1 by 1 by …' has 250,001 characters. Use at most 200"):
        parse_window("1 by " * 50_000 + "/")


def test_numbers_have_their_suffixes() -> None:
    (statement,) = read_for_spark(f"SELECT max(1L), max(1.5e-3BD), max(1.D), max(2e3f) FROM t {KEYED}", "spark", None)
    assert [call.arguments for call in statement.selects[0].calls] == [("1L",), ("1.5e-3BD",), ("1.D",), ("2e3f",)]
