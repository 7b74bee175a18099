"""Folders that Python and Spark both use: which paths are taken, how Spark is told of them, whole files in them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from secrets import token_hex

from muntin.errors import QueryError
from muntin.safe_text import hide_user_info

StrPath = str | os.PathLike[str]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_LOCAL = re.compile(r"file:(//(localhost)?)?(?P<path>/([^/].*)?)", re.IGNORECASE | re.DOTALL)
_PATTERN = re.compile(r"[\[\]{}*?\\]")


def folder(path: StrPath, what: str) -> Path:
    """Give the folder that a path names, which need not exist yet; refuse files and other file systems.

    Characters of a file: path stand for themselves, as in Spark: %20 is no space.

    >>> folder("file:///data/windows", "registry"), folder("file:/data/windows", "registry")
    (PosixPath('/data/windows'), PosixPath('/data/windows'))
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text:
        raise QueryError(f"{what} {hide_user_info(repr(path))} is not a path. Give the path of a folder as text.")
    absolute = Path(_plain(text, what)).absolute()
    nearest = next(place for place in (absolute, *absolute.parents) if place.exists())
    if not nearest.is_dir():
        raise QueryError(f"{what} {text!r} is not a folder: {nearest} is a file. Give the path of a folder.")
    return absolute


def existing(path: StrPath, what: str) -> Path:
    """Give the folder that a path names; refuse one that does not exist."""
    absolute = folder(path, what)
    if not absolute.exists():
        raise QueryError(f"{what} {os.fspath(path)!r} does not exist: there is no folder {absolute}. Check the path.")
    return absolute


def place_of(path: StrPath, what: str) -> str:
    """Give a folder of any file system as text: an absolute path where it is on this machine, else a URL.

    >>> place_of("file:///data/windows", "registry"), place_of("s3a://bucket/windows/", "registry")
    ('/data/windows', 's3a://bucket/windows')
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(text, str) and is_remote(text) and scheme(text) != "file":
        if not isinstance(path, str):
            shown = hide_user_info(repr(path))
            raise QueryError(f"{what} {shown} is a URL, and a Path loses slashes of it. Give it as text.")
        return text.rstrip("/")
    return str(folder(path, what))


def scheme(url: str) -> str:
    """Give the scheme of a URL, in small letters."""
    return url.partition(":")[0].lower()


def is_remote(path: str) -> bool:
    """Tell whether a path names another file system than the local one.

    >>> is_remote("s3://bucket/events"), is_remote("file:///data/events"), is_remote("data/events")
    (True, False, False)
    """
    return bool(_SCHEME.match(path)) and not _LOCAL.fullmatch(path)


def local(path: str) -> Path:
    """Give the file or folder of the local file system that a path names, whether it exists or not."""
    return Path(_plain(path, "path")).expanduser().absolute()


def url(place: Path | str) -> str:
    """Name a folder for Spark to write to; a path is on the file system that Python sees, not on Spark's default one.

    >>> url(Path("/data/windows")), url("s3a://bucket/windows")
    ('file:///data/windows', 's3a://bucket/windows')
    """
    return place if isinstance(place, str) and is_remote(place) else f"file://{place}"


def pattern(place: Path | str) -> str:
    r"""Name a folder for Spark to read from: it reads such paths as patterns, and [ab] must stand for itself.

    >>> print(pattern(Path("/data/a[1]")))
    file:///data/a\[1\]
    """
    return _PATTERN.sub(r"\\\g<0>", url(place))


def create(file: Path, text: str) -> bool:
    """Write a file that appears at once and complete, unless there is one of that name; tell whether it was written."""
    temporary = _temporary(file.parent, text)
    try:
        os.link(temporary, file)  # fails if the name is taken, unlike a rename
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    return True


def put(file: Path, text: str) -> None:
    """Write a file that appears at once and complete, in place of one that may be there."""
    _temporary(file.parent, text).replace(file)


def _plain(text: str, what: str) -> str:
    """Take the scheme off a path of the local file system; refuse other schemes, and other hosts."""
    if not _SCHEME.match(text):
        return text
    if local := _LOCAL.fullmatch(text):
        return local["path"]
    raise QueryError(
        f"{what} {hide_user_info(text)!r} is on another file system, which is not supported here. "
        "Use a folder of a file system that the driver and all workers have mounted."
    )


def _temporary(place: Path, text: str) -> Path:
    """Write text completely under a hidden name; who may read it is as for any new file here (the umask)."""
    name = place / f".{token_hex(8)}"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return name
