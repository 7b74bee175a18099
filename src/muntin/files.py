"""Files wherever they are: the few calls that Muntin makes itself, beside what Spark reads and writes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Protocol

from muntin.errors import QueryError, UnsupportedError
from muntin.paths import create, is_remote, put, scheme
from muntin.safe_text import hide_secrets, safe_cause, secret_values, user_infos

EXCLUSIVE = frozenset(["s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory"])
"""The schemes whose stores, through fsspec, create an object only if there is none of its name."""

_KINDS = (FileNotFoundError, FileExistsError, PermissionError, ConnectionError, TimeoutError)
"""Errors of stores that keep their kind when their text is written anew."""
_STAMPS = ("size", "ETag", "etag", "mtime", "LastModified", "last_modified", "modified", "updated", "created")
_NO_FILE = frozenset([errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENODEV, errno.ENOTDIR, errno.ENXIO, errno.EPERM])
"""What the system says of a path that no file can be read from, however often it is tried."""


class UnreadableFileError(ValueError):
    """What has the path is no regular file, or longer than it may be, or not for us to read."""


class Files(Protocol):
    """What Muntin does with files. A path is text: an absolute path of this machine, or a URL such as s3a://b/f."""

    def read(self, path: str) -> str:
        """Give the text of a file; FileNotFoundError if there is none."""

    def list(self, folder: str) -> dict[str, Hashable]:
        """Give what is in a folder by its name, each with a stamp that changes when it is written again.

        A folder that does not exist has nothing in it.
        """

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or a folder."""

    def make(self, folder: str) -> None:
        """Make a folder, where the file system has folders."""

    def put(self, path: str, text: str) -> None:
        """Write a file in place of one that may be there."""

    def move(self, source: str, target: str) -> None:
        """Give a file another name."""

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing happens if there is none."""


class CreatingFiles(Files, Hashable, Protocol):
    """Files of which several processes may create one, and one of them does; others may have put anything there."""

    def read_short(self, path: str, most: int) -> str:
        """Return the text of a file of so many bytes at most; FileNotFoundError if there is none.

        Raises:
            UnreadableFileError: If it is longer, a folder, a pipe or a device. Nothing is waited for.
            UnicodeDecodeError: If it is no text.
        """

    def atomic(self) -> bool:
        """Tell whether `create` fails for all but one, whatever happens at the same time."""

    def create(self, path: str, text: str) -> bool:
        """Write a file that appears complete, unless there is one of that name; tell whether it was written."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Files of this machine, mounted ones included."""

    def read(self, path: str) -> str:
        """Give the text of a file; bytes that are no text are for the reader of the text to refuse."""
        return Path(path).read_text(encoding="utf-8", errors="replace")

    def read_short(self, path: str, most: int) -> str:
        """Return the text of a regular file; a pipe is opened without waiting for somebody who writes to it."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in _NO_FILE:
                raise UnreadableFileError(error.strerror) from error
            if error.errno == errno.ENOENT and Path(path).is_symlink():
                raise UnreadableFileError("a link to a file that does not exist") from error
            raise
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableFileError("not a regular file")
            with os.fdopen(handle, "rb", closefd=False) as file:
                return _text(file.read(most + 1), most)
        finally:
            os.close(handle)

    def list(self, folder: str) -> dict[str, Hashable]:
        """Give what is in a folder, with the times of change."""
        found: dict[str, Hashable] = {}
        with suppress(FileNotFoundError, NotADirectoryError):
            for entry in Path(folder).iterdir():
                with suppress(FileNotFoundError):  # it is gone since
                    found[entry.name] = _changed(entry)
        return found

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or a folder."""
        return Path(path).exists()

    def make(self, folder: str) -> None:
        """Make a folder and those above it."""
        Path(folder).mkdir(parents=True, exist_ok=True)

    def put(self, path: str, text: str) -> None:
        """Write a file that appears at once and complete."""
        put(Path(path), text)

    def move(self, source: str, target: str) -> None:
        """Give a file another name."""
        Path(source).rename(target)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        place = Path(path)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    def atomic(self) -> bool:
        """Say yes: a hard link is made by one."""
        return True

    def create(self, path: str, text: str) -> bool:
        """Write a file that appears at once and complete, unless there is one of that name."""
        return create(Path(path), text)


@dataclass(frozen=True, slots=True)
class FsspecFiles:
    """Files of a store that fsspec knows, without Spark: in a shell, and on workers."""

    scheme: str
    options: str = field(default="{}", repr=False)
    """What the store is opened with, as JSON: workers get the same. It may have passwords."""

    def read(self, path: str) -> str:
        """Give the text of a file; bytes that are no text are for the reader of the text to refuse."""
        content: bytes = self._store().cat_file(path)
        return content.decode("utf-8", errors="replace")

    def read_short(self, path: str, most: int) -> str:
        """Return the text of an object whose size the store says; no more of it is fetched than it may have."""
        store = self._store()
        store.invalidate_cache()
        entry = store.info(path)
        if entry["type"] != "file":
            raise UnreadableFileError("not a regular file")
        if (entry["size"] or 0) > most:
            raise UnreadableFileError(f"longer than {most:,} bytes")
        if entry["size"] == 0:  # of nothing, stores give no part
            return ""
        return _text(store.cat_file(path, start=0, end=most + 1), most)

    def list(self, folder: str) -> dict[str, Hashable]:
        """Give what is in a folder, with what the store says of its age."""
        store = self._store()
        store.invalidate_cache()
        try:
            entries = store.ls(folder, detail=True)
        except FileNotFoundError:
            return {}
        last = folder.rstrip("/").rsplit("/", 1)[-1]
        named = ((entry["name"].rstrip("/").rsplit("/", 1)[-1], entry) for entry in entries)
        return {
            name: tuple(str(entry.get(stamp)) for stamp in _STAMPS)
            for name, entry in named
            if name != last or entry["type"] == "file"  # some stores list a folder in itself
        }

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or a folder."""
        store = self._store()
        store.invalidate_cache()
        return bool(store.exists(path))

    def make(self, folder: str) -> None:
        """Make a folder and those above it, where the store has folders."""
        self._store().makedirs(folder, exist_ok=True)

    def put(self, path: str, text: str) -> None:
        """Write a file; object stores show it when it is complete."""
        self._store().pipe_file(path, text.encode())

    def move(self, source: str, target: str) -> None:
        """Give a file another name; object stores copy it."""
        self._store().mv(source, target)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        with suppress(FileNotFoundError):
            self._store().rm(path, recursive=True)

    def atomic(self) -> bool:
        """Tell whether the store itself refuses a name that is taken."""
        return self.scheme in EXCLUSIVE

    def create(self, path: str, text: str) -> bool:
        """Write a file unless there is one of that name; a store that cannot refuse the name is asked before."""
        store = self._store()
        if not self.atomic():
            if self.exists(path):
                return False
            self.put(path, text)
            return True
        try:
            store.pipe_file(path, text.encode(), mode="create")
        except FileExistsError:
            return False
        return True

    def _store(self) -> Any:
        try:
            import fsspec
        except ImportError:
            raise UnsupportedError(
                f"paths with {self.scheme}: are read through fsspec, which is not installed. "
                "Use pip install 'muntin[files]', and on the workers as well."
            ) from None
        options = json.loads(self.options)
        secrets = tuple(secret_values(options))
        try:
            return _SafeStore(fsspec.filesystem(self.scheme, **options), secrets)
        except ImportError as error:
            raise UnsupportedError(f"fsspec needs another package for {self.scheme}: paths. {error}") from error
        except ValueError as error:
            text = hide_secrets(str(error), secrets)
            raise UnsupportedError(
                f"fsspec knows no {self.scheme}: paths ({text}). Use a mounted folder."
            ) from safe_cause(error, secrets)


@dataclass(frozen=True, slots=True)
class _SafeStore:
    """A store of fsspec whose errors quote neither the secrets of its options nor the user info of a path."""

    store: Any = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.store, name)

        @wraps(method)
        def call(*given: Any, **options: Any) -> Any:
            try:
                return method(*given, **options)
            except Exception as error:
                texts = (text for text in given if isinstance(text, str))
                secrets = (*self.secrets, *(info for text in texts for info in user_infos(text)))
                if safe_cause(error, secrets):
                    raise
                kind = next((kind for kind in _KINDS if isinstance(error, kind)), OSError)
                raise kind(hide_secrets(str(error), secrets)) from None

        return call


def files_of(place: str, options: Mapping[str, Any] | None = None) -> CreatingFiles:
    """Give what reads and writes a place without Spark.

    >>> files_of("/data/windows"), files_of("s3a://bucket/windows").scheme
    (LocalFiles(), 's3a')
    """
    if not is_remote(place):
        if options:
            names = sorted(map(str, options))
            raise QueryError(f"options {names} are for other file systems, and {place!r} is a local path.")
        return LocalFiles()
    fields = dict(options or {})
    if unsendable := [name for name, value in fields.items() if not (isinstance(name, str) and _is_json(value))]:
        raise QueryError(f"options {unsendable} cannot be sent to workers as JSON. Use texts and numbers.")
    return FsspecFiles(scheme(place), json.dumps(fields, sort_keys=True))


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _text(content: bytes, most: int) -> str:
    """Return the text of what was read."""
    if len(content) > most:
        raise UnreadableFileError(f"longer than {most:,} bytes")
    return content.decode("utf-8")


def _changed(entry: Path) -> tuple[int, int, int]:
    """Return when a file was changed, and what differs where it was soon written again; for a broken link, its own."""
    try:
        status = entry.stat()
    except OSError:
        status = entry.lstat()
    return status.st_mtime_ns, status.st_ino, status.st_size
