"""Rows on a terminal: as many columns as fit, and values as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from muntin.safe_text import escape_controls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WIDEST = 40
"""Characters of a value that are shown."""
_BESIDE = 3
"""Characters that a column takes beside its values: a line and two blanks."""
_PLAIN = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "boolean",
    "string",
    "date",
    "timestamp",
    "timestamp_ntz",
)
_INTERVALS = ("struct<start:timestamp,end:timestamp>", "struct<start:timestamp_ntz,end:timestamp_ntz>")


@dataclass(frozen=True, slots=True)
class Rows:
    """The first rows of a result."""

    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]
    more: bool = False
    """Whether the result has others."""

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def first_rows(frame: DataFrame, most: int) -> Rows:
    """Take the first rows of a DataFrame, with times as the session shows them."""
    names = tuple(frame.columns)
    places = [f"c{place}" for place in range(len(names))]  # names may be there twice
    types = [field.dataType.simpleString() for field in frame.schema.fields]
    wanted = [_selected(place, type) for place, type in zip(places, types, strict=True)]
    table = frame.toDF(*places).selectExpr(*wanted).limit(most + 1).toArrow()
    columns = tuple(column.to_pylist() for column in table.columns)
    more = table.num_rows > most
    return Rows(names, tuple(column[:most] for column in columns), more)


def drawn(rows: Rows, width: int, title: str = "") -> RenderableType:
    """Draw rows as a table that is no wider than the terminal, with a word on what is left out."""
    texts = [_texts(column) for column in rows.columns]
    shown = _fitting(rows.names, texts, width)
    table = Table()
    for name, column in zip(rows.names[:shown], rows.columns, strict=False):
        right = any(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in column)
        table.add_column(Text(_cut(name)), justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    for row in zip(*texts[:shown], strict=True):
        table.add_row(*row)
    notes = []
    if left := rows.names[shown:]:
        notes.append(f"… and the column{'' if len(left) == 1 else 's'} {', '.join(map(_cut, left))}")
    if rows.more:
        notes.append(f"… and more than these {len(rows)} rows")
    titles = [Text(escape_controls(title), style="bold")] if title else []  # a table's own would be broken at its width
    return Group(*titles, table, *(Text(note, style="dim") for note in notes))


def show(console: Console, rows: Rows, title: str = "") -> None:
    """Print rows on a console."""
    console.print(drawn(rows, console.width, title))


def print_plan(console: Console, text: str) -> None:
    """Print the text of a plan; on a terminal its long lines are broken, in a file they stay as they are."""
    plain = escape_controls(text, keep="\n")
    fitting = folded(plain, console.width) if console.is_terminal else plain
    console.print(fitting, markup=False, highlight=False, soft_wrap=True)


def folded(text: str, width: int) -> str:
    r"""Break the lines of a plan that are longer than a terminal is wide, and keep the branches of the tree.

    >>> print(folded("input\n└─ expand: rows exploded into windows\n   │  evaluates min(v)\n   └─ ⟨1h,1h⟩", 24))
    input
    └─ expand: rows exploded
       │  into windows
       │  evaluates min(v)
       └─ ⟨1h,1h⟩
    """
    lines = text.splitlines()
    broken: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        lead = line[: len(line) - len(line.lstrip(" │├└─"))]
        branch = "│  " if after[len(lead) : len(lead) + 1] in tuple("│├└") else "   "
        below = lead.replace("├", "│").replace("└", " ").replace("─", " ") + branch
        room = max(width, len(below) + 20)
        broken += wrap(line[len(lead) :], room, initial_indent=lead, subsequent_indent=below, break_on_hyphens=False)
    return "\n".join(broken)


def _selected(place: str, type: str) -> str:
    if type in _PLAIN or type in _INTERVALS or type.startswith("decimal"):
        return place
    return f"hex({place}) AS {place}" if type == "binary" else f"CAST({place} AS STRING) AS {place}"


def _fitting(names: Sequence[str], texts: Sequence[Sequence[Text]], width: int) -> int:
    """Count the columns that fit beside each other, the first in any case."""
    taken = 1
    for place, (name, column) in enumerate(zip(names, texts, strict=True)):
        taken += _BESIDE + max((cell_len(text) for text in (_cut(name), *map(str, column))), default=1)
        if taken > width and place:
            return place
    return len(names)


def _texts(values: Sequence[Any]) -> list[Text]:
    """Write the values of a column alike."""
    times = [time for value in values for time in _times(value)]
    form, digits = _time_format(times), max((_digits(value) for value in values), default=0)
    return [
        Text("NULL", style="dim") if value is None else Text(_cut(_written(value, form, digits))) for value in values
    ]


def _times(value: Any) -> Iterable[datetime]:
    inner = value.values() if isinstance(value, dict) else (value,)
    return (one for one in inner if isinstance(one, datetime))


def _time_format(times: Sequence[datetime]) -> str:
    """Leave out seconds and microseconds where all times have none."""
    if any(time.microsecond for time in times):
        return "%H:%M:%S.%f"
    return "%H:%M:%S" if any(time.second for time in times) else "%H:%M"


def _digits(value: Any) -> int:
    """Count the digits after the point that a number needs, of four at most.

    >>> _digits(1234.50001), _digits(2.125), _digits(2.0), _digits("2.125")
    (1, 3, 0, 0)
    """
    return len(f"{value:.4f}".rstrip("0").partition(".")[2]) if isinstance(value, float) else 0


def _written(value: Any, form: str, digits: int = 4) -> str:
    """Write a value.

    >>> _written(1234.5, "", 2), _written(1e-7, ""), _written(3, ""), _written(datetime(2024, 5, 1, 9), "%H:%M")
    ('1234.50', '1e-07', '3', '2024-05-01 09:00')
    >>> _written({"start": datetime(2024, 5, 1, 9), "end": datetime(2024, 5, 1, 10)}, "%H:%M")
    '2024-05-01 09:00 – 10:00'
    """
    match value:
        case {"start": datetime() as start, "end": datetime() as end}:
            last = f"{end:{form}}" if start.date() == end.date() else _written(end, form)
            return f"{_written(start, form)} – {last}"
        case datetime():
            return f"{value:%Y-%m-%d {form}}"
        case date():
            return value.isoformat()
        case float():
            return f"{value:.4g}" if abs(value) < 1 else f"{value:.{digits}f}"
    return str(value)


def _cut(text: str) -> str:
    r"""Shorten a text, and write out what would move the cursor or change colours.

    >>> _cut("a\x1b[31mb\n"), len(_cut("x" * 100))
    ('a\\x1b[31mb\\n', 40)
    """
    plain = escape_controls(text)
    return plain if len(plain) <= WIDEST else plain[: WIDEST - 1] + "…"
