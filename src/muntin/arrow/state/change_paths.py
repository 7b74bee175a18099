"""Changes of a registry on their way to the state: Spark tells which files have come, and a worker reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from muntin import names
from muntin.registry import WindowRegistry


def read_changes(batches: Iterable[pa.RecordBatch], registry: WindowRegistry) -> Iterator[pa.RecordBatch]:
    """Read the files of changes by their paths, as the registry reads its own: Spark would wait for a pipe to end."""
    for batch in batches:
        texts = registry.texts(batch.column(0).to_pylist())
        yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string()).drop_null()], names=[names.CHANGE])
