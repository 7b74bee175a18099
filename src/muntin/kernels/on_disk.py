"""Machine code kept on disk: compiled once on a machine, by whoever needs it first.

Numba's own cache takes code for fresh as long as the function's file is, but ours is compiled from operators in other
files, too; and processes that compile at once may give one file's name to two operators. So a file here has a name made
of all that its code depends on. It appears complete or not at all, and who writes it twice writes the same.

Whoever can write such a file runs code as its reader. So every user has a folder, and nothing is loaded that somebody
else owns or can write.
"""

from __future__ import annotations

import errno
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

_CAN_OPEN_IN_FOLDERS = {os.open, os.rename, os.unlink} <= os.supports_dir_fd and os.listdir in os.supports_fd
"""Whether this system has what the checks need; elsewhere, no code is kept on disk."""
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def kept_on_disk(dispatcher: Any) -> Any:
    """Let a compiled function look for its code on disk first; where no folder can be written to, it does not."""
    if not _CAN_OPEN_IN_FOLDERS:
        return dispatcher
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
    """A file for each signature that a function was compiled for: a digest, and what it is the digest of.

    A path may lead elsewhere a moment after it was checked. So the folder is opened first, without following a link,
    and what was opened is what is checked; files are opened, made and renamed in this folder only.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def load(self, key: object) -> Any:
        """Return what was saved; None if there is nothing, or nothing whole that this user alone can have written."""
        try:
            with self._open_folder() as folder:
                handle = os.open(self._name(key), os.O_RDONLY | _NO_LINK | os.O_NONBLOCK, dir_fd=folder)
            with os.fdopen(handle, "rb") as file:
                if not _is_private(os.fstat(handle), stat.S_ISREG):
                    return None
                digest, data = file.read(sha256().digest_size), file.read()
        except OSError:
            return None
        return pickle.loads(data) if sha256(data).digest() == digest else None  # noqa: S301 - written by this user

    def save(self, key: object, data: object) -> None:
        """Write a file under a temporary name and rename it; without room for it, the code is compiled again."""
        body = dumps(data)  # type: ignore[no-untyped-call]
        with suppress(OSError), self._open_folder() as folder:
            temporary = f"{token_hex(8)}.tmp"
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode=0o600, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(sha256(body).digest() + body)
                    file.flush()
                    os.fsync(handle)
                os.replace(temporary, self._name(key), src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)

    def flush(self) -> None:
        """Remove all files of the function."""
        with suppress(OSError), self._open_folder() as folder:
            for name in os.listdir(folder):  # noqa: PTH208 - of what was opened
                if name.startswith(f"{self.name}.") and name.endswith(".nbc"):
                    os.unlink(name, dir_fd=folder)

    @contextmanager
    def _open_folder(self) -> Iterator[int]:
        """Open the folder, and refuse a link and a folder that somebody else owns or can write."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
        try:
            if not _is_private(os.fstat(folder), stat.S_ISDIR):
                raise PermissionError(errno.EPERM, "somebody else can write to the folder", str(self.folder))
            yield folder
        finally:
            os.close(folder)

    def _name(self, key: object) -> str:
        digest = sha256(f"{_sources()} {key!r}".encode()).hexdigest()
        return f"{self.name}.{digest[:24]}.nbc"


def _is_private(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Whether something is of this kind and belongs to this user, and neither its group nor others can write it."""
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not is_shared
