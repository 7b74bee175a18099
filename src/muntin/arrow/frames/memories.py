"""What windows keep of keys between micro-batches, as a table: a row for every key."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import Rows
from muntin.arrow.combine import key_codes
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.stretch import Memory, Slots, Stretch
from muntin.errors import MuntinError, QueryError
from muntin.typed_values import BEGINNING, DAMAGE, damage_error, decode, encode


def memory_from(table: pa.RecordBatch | None, rows: Rows, slots: Slots) -> tuple[Memory, pa.RecordBatch | None]:
    """Give every group of rows what a table keeps of its key; give also what the table keeps of other keys."""
    heads = rows.bounds()[:-1]
    memory = Memory.blank(slots, len(heads))
    if table is None:
        return memory, None
    if not set(memory.arrays) <= set(table.schema.names):
        raise QueryError(
            "the checkpoint has state of an earlier version, in which windows with fractional lengths may have lost "
            "rows. Use a new checkpoint."
        )
    keys = [
        pa.concat_arrays([rows.batch[key].take(pa.array(heads)), table[key].cast(rows.batch[key].type)])
        for key in rows.layout.keys
    ]
    codes = key_codes(keys, len(heads) + table.num_rows)
    places = np.full(int(codes.max()) + 1, -1)
    places[codes[: len(heads)]] = np.arange(len(heads))
    group = places[codes[len(heads) :]]
    known = np.flatnonzero(group >= 0)
    own = table.take(pa.array(known))
    memory.put(group[known], Memory({name: _array(own[name]) for name in memory.arrays}))
    return memory, table.take(pa.array(np.flatnonzero(group < 0)))


def memory_to(stretch: Stretch, framings: Sequence[Framing], rest: pa.RecordBatch | None) -> pa.RecordBatch:
    """Give what is kept of all keys as a table; a key of which nothing needs to be known is left out."""
    forgets = np.ones(len(stretch.base), np.bool_)
    for framing in framings:
        forgets &= framing.forgets(stretch)
    chosen = np.flatnonzero(~forgets)
    heads = pa.array(stretch.bounds[:-1][chosen])
    columns = {key: stretch.rows.batch[key].take(heads) for key in stretch.rows.layout.keys}
    columns |= {name: _column(array[chosen]) for name, array in stretch.memory.arrays.items()}
    table = pa.RecordBatch.from_pydict(columns)
    if rest is None:
        return table
    keys = {key: rest[key].cast(column.type) for key, column in columns.items() if key in stretch.rows.layout.keys}
    slots = {name: _alike(rest[name], columns[name].type) for name in stretch.memory.arrays}
    return pa.concat_batches([table, pa.RecordBatch.from_pydict(keys | slots)])


def _array(column: pa.Array) -> Any:
    if not pa.types.is_string(column.type):
        return column.to_numpy(zero_copy_only=False)
    return _objects([_decoded(text) for text in column.to_pylist()])


def _column(array: Any) -> pa.Array:
    if array.dtype.kind != "O":
        return pa.array(array)
    return pa.array([encode(value, _OWNER) for value in array], pa.string())


def _alike(column: pa.Array, type: pa.DataType) -> pa.Array:
    """Return what is kept of other keys in the type of today, if the numbers that a window watches have another."""
    if column.type == type:
        return column
    if pa.types.is_string(type):
        return _column(_objects(column.to_pylist()))
    return pa.array([float(value) for value in _array(column)]).cast(type)


def _objects(values: list[Any]) -> Any:
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _decoded(text: str) -> Any:
    """Read a value; what an earlier version kept was a list as plain JSON has it, which knows fewer types."""
    if text.startswith(BEGINNING):
        return decode(text, _OWNER)
    try:
        values = json.loads(text)
        if not isinstance(values, list):
            raise TypeError("it is no list")
        return [_from_json(value) for value in values]
    except MuntinError:
        raise
    except DAMAGE as error:
        raise damage_error(_OWNER, error) from error


_OWNER = "the state of a discretizer"


def _from_json(value: Any) -> Any:
    """Return lists as tuples, as the earlier version did; refuse a dict whose keys may not have been texts."""
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if not isinstance(value, dict):
        return value
    if lost := [key for key in value if _NOT_TEXT.fullmatch(key)]:
        raise QueryError(
            f"the checkpoint has a discretizer's dict with the key {lost[0]!r}, which an earlier version kept as text "
            "whatever its type was. Use a new checkpoint."
        )
    return {key: _from_json(item) for key, item in value.items()}


_NOT_TEXT = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?|true|false|null|NaN|-?Infinity")
"""What plain JSON makes of keys that are no texts."""
