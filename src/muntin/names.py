"""Names of internal columns: one name for one meaning, in Spark SQL and in Arrow batches alike.

Columns that come in numbers are k0, k1, … and so on: `key(0)` is the first of them and `keys(2)` the first two. Times
are microseconds unless said otherwise.

A row of the input has TIMESTAMP, TIME, keys and values; as a partial of itself, TIME, keys and partials. A slice has
BEGIN, keys and partials; where a key's time is cut into chunks, it has PLACE instead of BEGIN. An instance has NUMBER,
START, keys and partials.
"""

from __future__ import annotations

# Time
TIMESTAMP = "ts"
"""The event time of a row, as Spark's timestamp."""
TIME = "t"
"""The event time of a row."""
BEGIN = "b"
"""When a slice begins."""
END = "e"
"""When a slice ends."""
ROW = "row"
"""The number of a row among those of its key, from 0; -1 where it is not known yet."""
PLACE = "place"
"""The chunk and the time of a row or slice as a single number; see muntin.arrow.batches.Chunks."""

CHUNK = "chunk"
"""The chunk of time that a slice has a place in."""
BRANCH = "branch"
"""The number of the branch that a slice or an instance belongs to."""

# Windows and their instances
NUMBER = "w"
"""The number of the window in the query."""
LABEL = "id"
"""The label of the window."""
LABELS = "ids"
"""The labels of all windows that have the instance."""
RANGE = "r"
"""The range of the window."""
START = "s"
"""When an instance starts."""
FINISH = "f"
"""When an instance ends."""
UNTIL = "u"
"""When the last row of a partial session came."""
FROM = "from"
"""Where an instance begins in its window's own measure."""
TO = "to"
"""Where an instance ends in its window's own measure."""
STOP = "stop"
"""When an instance ends, as Spark's timestamp."""
ORDINAL = "ordinal"
"""The number of an instance among all that a task has given."""
INSTANCE = "instance"
"""A struct of what tells an instance: the number or the range of its window, and its start."""
WINDOW = "window"
"""A struct of an instance's start and end, as Spark's timestamps."""
SLICE = "slice"
"""A struct of a slice's begin and end, as Spark's timestamps."""

# Items that count once, by their latest occurrence
ITEM = "item"
"""The value that counts once."""
AGAIN = "again"
"""When the item occurs again."""
PRESENT = "present"
"""How many occurrences count, those of null included: an instance has rows where there are any."""
SIGN = "sign"
"""1 where an occurrence begins to count, -1 where it ceases to."""

# Joins
LEFT = "left_"
"""What stands before the names of columns of a join's left side."""
RIGHT = "right_"
"""What stands before the names of columns of a join's right side."""
BAND = "band"
"""When the stretch of time begins that rows of a join meet in."""

# What goes to the state of a stream, and what comes from it
BUCKET_NUMBER = "bucket_number"
"""The number of a row's bucket of keys, from 0."""
BUCKET = "bucket"
"""What Spark knows a bucket of keys by."""
COUNT = "n"
"""How many rows of the input a slice has."""
DATA = "data"
"""Slices or instances, packed."""
LATEST = "latest"
"""The latest event time that a task has seen."""
GRIDS = "grids"
"""What a task sliced by, as JSON."""
CHANGE = "change"
"""A change of a registry, as JSON."""
LATE = "late"
"""How many rows came too late for at least one instance."""
DROPPED = "dropped"
"""How many rows came too late for all instances."""
LATE_BY_WINDOW = "late_by_window"
"""The same for each window by its label, as JSON."""
KEPT = "kept"
"""How many slices, or rows that wait, a bucket keeps."""
NEWEST = "newest"
"""The newest change of a registry that a bucket has taken up; null where there is no registry."""
DAMAGED = "damaged"
"""How many changes of a registry cannot be read and are skipped; null where none would be."""
MISSED = "missed"
"""Rows that came too late for all instances, packed."""
LATE_ROW = "late_row"
"""One such row as a struct: the columns of the input, and WATERMARK."""
WATERMARK = "watermark"
"""The watermark that a late row missed, as Spark's timestamp."""
HEAD = "text"
"""The head of a bucket's state, as JSON."""
SEGMENT = "number"
"""The number of a segment of a bucket's state."""
MARK = "muntin"
"""The column of a state's keys that has the fingerprint as its type."""

# What is within other columns
CELLS = "cells"
"""A struct of the results of a row in the wide layout."""
VALUE = "value"
"""A result in a struct of its own, so that a null is told from no row."""
INPUTS = "inputs"
"""A struct of the values that a user's function lifts."""
INPUTS_TEXT = "inputs_text"
"""The same as text, by which rows of one time are sorted where Spark has no order for them."""
STATE = "state"
"""A partial of a user's function, as typed text."""


def key(number: int) -> str:
    """Name a key."""
    return f"k{number}"


def keys(count: int) -> list[str]:
    """Name so many keys.

    >>> keys(2)
    ['k0', 'k1']
    """
    return [key(number) for number in range(count)]


def value(number: int) -> str:
    """Name a column or expression that aggregates read."""
    return f"v{number}"


def partial(number: int) -> str:
    """Name a column of partial aggregates; an aggregate may have several."""
    return f"p{number}"


def slot(number: int) -> str:
    """Name a column that has a partial of every branch which needs one of its type."""
    return f"q{number}"


def result(number: int) -> str:
    """Name the result of an aggregate."""
    return f"a{number}"


def results(count: int) -> list[str]:
    """Name the results of so many aggregates."""
    return [result(number) for number in range(count)]


def item(number: int) -> str:
    """Name a column whose distinct values are counted."""
    return f"i{number}"


def items(count: int) -> list[str]:
    """Name so many columns whose distinct values are counted."""
    return [item(number) for number in range(count)]


def watched(number: int) -> str:
    """Name a column or expression that tells windows where to begin and end."""
    return f"x{number}"


def watched_as(column: str, role: str) -> str:
    """Name such a column by what it is: where windows come and go, its number may change.

    >>> watched_as("speed", "number")
    'x number speed'
    """
    return f"x {role} {column}"


def order(number: int) -> str:
    """Name a column or expression that rows of one time are ordered by."""
    return f"by{number}"


def carried(number: int) -> str:
    """Name a column of the input that is given back as it came."""
    return f"c{number}"


def output(number: int) -> str:
    """Name a column of the result until it has its own name."""
    return f"o{number}"


def cell(number: int) -> str:
    """Name the result of an aggregate over one window in the wide layout, until it has its own name."""
    return f"cell{number}"


def of_frame(number: int) -> str:
    """Give what stands before the names of partials over one frame of a rolling query.

    >>> of_frame(1) + partial(0)
    'f1p0'
    """
    return f"f{number}"
