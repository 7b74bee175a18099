"""What windows keep of keys between micro-batches, as a table: a row for every key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import Rows
from muntin.arrow.combine import key_codes
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.stretch import Memory, Slots, Stretch
from muntin.errors import QueryError


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
    memory.put(group[known], Memory({name: _array(own[name], memory[name].dtype) for name in memory.arrays}))
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
    return table if rest is None else pa.concat_batches([table, rest.select(table.schema.names).cast(table.schema)])


def _array(column: pa.Array, dtype: Any) -> Any:
    if dtype.kind != "O":
        return column.to_numpy(zero_copy_only=False)
    lists = np.empty(len(column), object)
    lists[:] = [_read(json.loads(text)) for text in column.to_pylist()]
    return lists


def _column(array: Any) -> pa.Array:
    if array.dtype.kind != "O":
        return pa.array(array)
    return pa.array([json.dumps(value, default=_plain) for value in array], pa.string())


def _plain(value: Any) -> Any:
    """Give a number of numpy, or an array, as JSON has it; refuse what JSON cannot hold."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise QueryError(
        f"a discretizer keeps {value!r} of type {type(value).__name__} as its state, which JSON cannot hold. "
        "Use numbers, texts, lists and dicts of texts."
    )


def _read(value: Any) -> Any:
    """Give lists within a list as tuples, which JSON does not know."""
    return [_frozen(one) for one in value]


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {name: _frozen(one) for name, one in value.items()} if isinstance(value, dict) else value
