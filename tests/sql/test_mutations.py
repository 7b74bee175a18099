"""Random mutations of valid text: a result, or an error that says what is wrong; never another, and never a hang."""

import random
import re
import time

import pytest

from muntin.errors import QueryError, UnsupportedError
from muntin.sqltext import read
from muntin.sqltext.statement import Dialect
from tests.sql.texts import VALID

TOKEN = re.compile(r"'[^']*'|\w+|\s+|.", re.DOTALL)
STRANGE = [
    *"()[]{}`\"';,.*=<>+-/\\|&%$#@!~^:?\0\t\n",
    "''",
    "--",
    "/*",
    "*/",
    "é",
    "漢",
    "😀",
    "\u200b",
    "=>",
    "->",
    "::",
    "..",
]
WORDS = (
    "SELECT FROM UNION ALL WITH AS OVER NULL INTERVAL CASE WHEN END NOT LATERAL PIVOT (SELECT CREATE VIEW INSERT VALUES "
    "TABLE CUBE DISTINCT x' {{ @a $1 :p 0 -1 1e400 99999999999999999999 JOIN ON USING EXISTS IN LIMIT ORDER GROUP BY HAVING"
)
PIECES = [piece for _, text in VALID for piece in TOKEN.findall(text)] + STRANGE * 3 + WORDS.split() * 2
DIALECTS: list[Dialect | None] = [None, None, "azure", "spark", "flink"]
PATIENCE = 60
"""Seconds that no text may take; a usual one takes a millisecond."""


def mutated(rng: random.Random, text: str) -> str:
    """Delete, insert, replace, swap, repeat and misspell pieces of a text."""
    pieces = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        if pieces:
            _mutate(rng, pieces)
    return "".join(pieces)


def _mutate(rng: random.Random, pieces: list[str]) -> None:
    at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    match rng.randrange(8):
        case 0:
            del pieces[at]
        case 1:
            pieces.insert(at, rng.choice(PIECES))
        case 2:
            pieces[at] = rng.choice(PIECES)
        case 3:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 4:
            del pieces[at:]
        case 5:
            pieces[at:at] = pieces[at : at + rng.randrange(1, 8)]
        case 6:
            piece = pieces[at] or " "
            cut = rng.randrange(len(piece))
            pieces[at] = piece[:cut] + rng.choice(["", chr(rng.randrange(32, 127)), piece[cut] * 2]) + piece[cut + 1 :]
        case 7:
            pieces.insert(at, rng.choice(PIECES) * rng.choice([2, 5, 40]))


def check(seeds: range) -> int:
    """Read mutations; give how many of them still read."""
    still = 0
    for seed in seeds:
        rng = random.Random(seed)
        _, valid = rng.choice(VALID)
        text, dialect = mutated(rng, valid), rng.choice(DIALECTS)
        begun = time.monotonic()
        try:
            read(text, dialect)
            still += 1
        except (QueryError, UnsupportedError):
            pass
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {dialect} reads {text!r} as {error!r}") from error
        assert time.monotonic() - begun < PATIENCE, f"seed {seed} took too long"
    return still


def test_mutations_read_or_say_what_is_wrong() -> None:
    assert 200 < check(range(3_000)) < 2_000


@pytest.mark.long
def test_a_million_mutations_read_or_say_what_is_wrong() -> None:
    check(range(1_000_000))
