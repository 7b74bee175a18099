"""Texts of full length that make careless patterns read them again and again."""

import contextlib
from time import process_time

import pytest

from muntin.errors import MuntinError, QueryError
from muntin.sqltext import read
from muntin.sqltext.reading import LONGEST_TEXT
from muntin.sqltext.recognition import recognise
from muntin.window.text import parse_window

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
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("prefix", ["", "SELECT '", 'SELECT "', "SELECT `"])
def test_a_dialect_is_recognised_in_linear_time(prefix: str, part: str) -> None:
    text = (prefix + part * LONGEST_TEXT)[:LONGEST_TEXT]
    start = process_time()
    recognise(text)
    assert process_time() - start < 1


@pytest.mark.parametrize(
    "text", ["-- name:" + " " * 200_000 + "\nSELECT 1", "\\'" * 100_000, "SELECT " + "'" * 100_001]
)
def test_hostile_texts_are_read_or_refused_in_linear_time(text: str) -> None:
    start = process_time()
    with contextlib.suppress(MuntinError):
        read(text)
    assert process_time() - start < 10


def test_quotes_hide_the_words_of_a_dialect() -> None:
    assert recognise("SELECT 'TUMBLE(', \"TUMBLE(\", `TUMBLE(`, 'x\\'TUMBLE(', 'x''TUMBLE('") == "spark"
    assert recognise("SELECT 'x\\\\' FROM t GROUP BY TUMBLE(ts)") == "flink"
    assert recognise("SELECT * FROM [one row`] TIMESTAMP BY t") == "azure"


def test_the_text_of_a_window_has_an_end() -> None:
    with pytest.raises(QueryError, match=r"the window '1 by 1 by 1 by 1 by …' has 250,001 characters. Use at most 200"):
        parse_window("1 by " * 50_000 + "/")
