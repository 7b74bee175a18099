"""Files of settings, so that passwords stand on no command line: KEY=VALUE, or as in Spark's spark-defaults.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from muntin.errors import QueryError

_PAIR = re.compile(r"(?P<key>[^\s=:]+)(\s*[=:]\s*|\s+)(?P<value>.*)")


def read_settings(file: str, option: str) -> dict[str, str]:
    """Return the settings of a file; no error quotes a line of it.

    Blank lines and those that begin with # are left out, a backslash at the end of a line goes on with the next one,
    and a later line for a key takes the place of an earlier one.
    """
    settings = {}
    for number, line in _lines(_text(file, option)):
        if not (pair := _PAIR.fullmatch(line)):
            raise QueryError(f"{option} {file!r}: line {number} is not KEY=VALUE. Write spark.driver.memory=4g.")
        settings[pair["key"]] = pair["value"]
    return settings


def _text(file: str, option: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise QueryError(f"{option}: there is no file {file!r}. Check the path.") from None
    except IsADirectoryError:
        raise QueryError(f"{option}: {file!r} is a folder. Give the path of a file with KEY=VALUE lines.") from None
    except UnicodeDecodeError:  # it has the bytes
        raise QueryError(f"{option}: {file!r} is not UTF-8 text. Give a file with KEY=VALUE lines.") from None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield the lines that say something, each with the number of its first one.

    >>> list(_lines("# no\na=1 \\\n  2\n\nb 3\n"))
    [(2, 'a=1 2'), (5, 'b 3')]
    """
    begun, first = "", 0
    for number, physical in enumerate([*text.split("\n"), ""], start=1):
        line = physical.strip()
        if not begun and (not line or line.startswith("#")):
            continue
        first = first if begun else number
        if line.endswith("\\"):
            begun += line[:-1].lstrip() or " "
            continue
        yield first, (begun + line).strip()
        begun = ""
