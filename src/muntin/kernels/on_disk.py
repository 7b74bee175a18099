"""Machine code kept on disk: compiled once on a machine, by whoever needs it first.

Numba's own cache takes code for fresh as long as the function's file is, but ours is compiled from operators in other
files, too; and processes that compile at once may give one file's name to two operators. So a file here has a name made
of all that its code depends on. It appears complete or not at all, and who writes it twice writes the same.

Whoever can write such a file runs code as its reader. So every user has a folder, and nothing is loaded that somebody
else owns or can write.
"""

from __future__ import annotations

import os
import pickle
import stat
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
    with suppress(RuntimeError, OSError):  # Numba finds no place for it, or a folder for this user cannot be made
        dispatcher._cache = _Cache(dispatcher.py_func)  # noqa: SLF001 - as Numba does for cache=True
    return dispatcher


@cache
def _sources() -> str:
    """Name the state of all files that code may be compiled from."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files) + numba.__version__.encode()).hexdigest()


class _Cache(FunctionCache):
    """Numba's cache of a function's code, in files of ours; Numba chooses the place of the folder."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        folder = Path(self._cache_path, f"muntin-{os.geteuid()}")
        folder.mkdir(mode=0o700, exist_ok=True)
        self._cache_file: Any = _Files(folder, self._impl.filename_base)


class _Files:
    """A file for each signature that a function was compiled for: a digest, and what it is the digest of."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def load(self, key: object) -> Any:
        """Return what was saved; None if there is nothing, or nothing whole that this user alone can have written."""
        try:
            with self._path(key).open("rb") as file:
                if not all(map(_is_private, (self.folder.stat(), os.fstat(file.fileno())))):
                    return None
                digest, data = file.read(sha256().digest_size), file.read()
        except OSError:
            return None
        return pickle.loads(data) if sha256(data).digest() == digest else None  # noqa: S301 - written by this user

    def save(self, key: object, data: object) -> None:
        """Write a file under a temporary name and rename it; without room for it, the code is compiled again."""
        body = dumps(data)  # type: ignore[no-untyped-call]
        with suppress(OSError):
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(sha256(body).digest() + body)
                    file.flush()
                    os.fsync(file.fileno())
                Path(temporary).replace(self._path(key))
            finally:
                Path(temporary).unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all files of the function."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        digest = sha256(f"{_sources()} {key!r}".encode()).hexdigest()
        return self.folder / f"{self.name}.{digest[:24]}.nbc"


def _is_private(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and neither its group nor others can write it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
