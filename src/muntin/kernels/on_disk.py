"""Machine code kept on disk: compiled once on a machine, by whoever needs it first.

Numba's own cache takes code for fresh as long as the function's file is, but ours is compiled from operators in other
files, too; and processes that compile at once may give one file's name to two operators. So a file here has a name made
of all that its code depends on. It appears complete or not at all, and who writes it twice writes the same.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps


def kept_on_disk(dispatcher: Any) -> Any:
    """Let a compiled function look for its code on disk first; where no folder can be written to, it does not."""
    with suppress(RuntimeError):  # Numba finds no place for it
        dispatcher._cache = _Cache(dispatcher.py_func)  # noqa: SLF001 - as Numba does for cache=True
    return dispatcher


@cache
def _sources() -> str:
    """Name the state of all files that code may be compiled from."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files) + numba.__version__.encode()).hexdigest()


class _Cache(FunctionCache):
    """Numba's cache of a function's code, in files of ours; Numba chooses the folder."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file: Any = _Files(Path(self._cache_path), self._impl.filename_base)


class _Files:
    """A file for each signature that a function was compiled for."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def load(self, key: object) -> Any:
        """Give what was saved; None if there is nothing."""
        path = self._path(key)
        return pickle.loads(path.read_bytes()) if path.exists() else None  # noqa: S301 - as Numba's own, in its folder

    def save(self, key: object, data: object) -> None:
        """Write a file under a temporary name, and rename it."""
        handle, temporary = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            file.write(dumps(data))  # type: ignore[no-untyped-call]
        Path(temporary).replace(self._path(key))

    def flush(self) -> None:
        """Remove all files of the function."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        told = sha256(f"{_sources()} {key!r}".encode()).hexdigest()
        return self.folder / f"{self.name}.{told[:24]}.nbc"
