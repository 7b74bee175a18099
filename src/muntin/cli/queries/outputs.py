"""Where results go: a folder for every statement, none of them taken, checked before Spark starts if it is here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from muntin.errors import QueryError
from muntin.files import Files, LocalFiles
from muntin.paths import StrPath, is_remote, place_of
from muntin.safe_text import hide_user_info

CHECKPOINT = "_checkpoint"
"""Where a stream keeps how far it is, if nothing else is said: a folder beside those of its statements."""
QUERY = "_query"
"""The file with the id of the query that writes a folder; Spark does not read files with such names."""
BATCH = "muntin_batch"
"""The partition column that the number of a micro-batch is kept in."""

SCHEMAS = "_schemas"
"""The folder of the schemas of micro-batches."""

_HERE = LocalFiles()
_LONGEST = 100
_UNSAFE = re.compile(r"[^\w.-]+")
_RESULT = re.compile(rf"part-.*|_SUCCESS|_temporary|_delta_log|{QUERY}|{SCHEMAS}|{BATCH}=\d+|\..*\.crc")
"""What Spark and Muntin put into the folder of a result."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The folder of every statement, and of a stream its checkpoint."""

    folders: Mapping[str, str] = field(repr=False)
    """Absolute paths, or URLs of another file system."""
    checkpoint: str | None = field(default=None, repr=False)
    outdated: tuple[str, ...] = field(default=(), repr=False)
    """Folders of an earlier run, which --overwrite gives up."""
    files: Files = _HERE
    """What reads and writes them."""

    def clear(self) -> None:
        """Remove what an earlier run has left, just before new results are written."""
        for place in self.outdated:
            self.files.remove(place)


def batch_outputs(
    output: StrPath,
    names: Iterable[str],
    inputs: Iterable[StrPath] = (),
    files: Files = _HERE,
    *,
    overwrite: bool,
) -> Outputs:
    """Give every statement its folder; refuse what is there already, unless it may be overwritten."""
    folders = _folders(output, names, inputs)
    outdated = tuple(_outdated(files, folders.values(), overwrite=overwrite))
    return Outputs(folders, outdated=outdated, files=files)


def stream_outputs(
    output: StrPath,
    names: Iterable[str],
    inputs: Iterable[StrPath] = (),
    files: Files = _HERE,
    *,
    checkpoint: StrPath | None = None,
    overwrite: bool = False,
) -> Outputs:
    """Give every statement its folder; a stream goes on in those that its checkpoint has written."""
    folders = _folders(output, names, inputs)
    own = f"{place_of(output, 'output')}/{CHECKPOINT}"
    kept = own if checkpoint is None else place_of(checkpoint, "checkpoint")
    query = query_of(files, kept)
    if overwrite:
        if query and kept != own:
            raise QueryError(
                f"checkpoint {hide_user_info(kept)} continues a stream, and --overwrite begins anew. "
                "Remove the checkpoint, or leave out --overwrite."
            )
        query = ""
    if query:
        for name, place in folders.items():
            _continues(files, name, place, kept, query)
        return Outputs(folders, kept, files=files)
    outdated = tuple(_outdated(files, folders.values(), overwrite=overwrite))
    begun = (kept,) if overwrite and kept == own and files.exists(kept) else ()
    return Outputs(folders, kept, (*outdated, *begun), files)


def query_of(files: Files, checkpoint: str) -> str:
    """Give the id of the query that a checkpoint belongs to; nothing if no query has begun in it."""
    try:
        return str(json.loads(files.read(f"{checkpoint}/metadata"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Make names of folders from names of statements: no two alike on any file system, none hidden from Spark.

    >>> safe_names(["low", "../low", "LOW", "a=b/c", "_x", "…", "größe"]).values()
    dict_values(['low', 'low_2', 'LOW_3', 'a_b_c', 'x', 'statement', 'größe'])
    """
    taken: set[str] = set()
    safe = {}
    for name in names:
        plain = _UNSAFE.sub("_", name)[:_LONGEST].strip("._-") or "statement"
        number, own = 1, plain
        while own.lower() in taken:
            number += 1
            own = f"{plain}_{number}"
        taken.add(own.lower())
        safe[name] = own
    return safe


def _folders(output: StrPath, names: Iterable[str], inputs: Iterable[StrPath]) -> dict[str, str]:
    top = place_of(output, "output")
    if not is_remote(top):
        _check_writable(Path(top))
    folders = {name: f"{top}/{safe}" for name, safe in safe_names(names).items()}
    for place in folders.values():
        for input in inputs:
            one, other = _steps(place), _steps(input)
            if one[: len(other)] == other[: len(one)]:
                shown, read = hide_user_info(place), hide_user_info(os.fspath(input))
                raise QueryError(f"output {shown} is where input {read} is read from. Choose another folder.")
    return folders


def _check_writable(top: Path) -> None:
    nearest = next(place for place in (top, *top.parents) if place.exists())
    if not os.access(nearest, os.W_OK):
        raise QueryError(f"output {str(top)!r} cannot be written: {nearest} is read-only. Choose another folder.")


def _steps(place: StrPath) -> tuple[str, ...]:
    """Give the names on the way to a place: where one way begins as another one does, it leads into it."""
    text = os.fspath(place)
    return tuple(text.split("/")) if is_remote(text) else Path(text).resolve().parts


def _outdated(files: Files, folders: Iterable[str], *, overwrite: bool) -> Iterator[str]:
    """Yield the folders that are there already; refuse them unless they may be overwritten, and hold results."""
    for place in folders:
        if not files.exists(place):
            continue
        shown = hide_user_info(place)
        if Path(place).is_file():
            raise QueryError(f"output {shown} is a file. Move it, or choose another --output.")
        inner = list(files.list(place))
        if inner and not overwrite:
            raise QueryError(f"output {shown} exists. Choose another --output, or replace it with --overwrite.")
        if foreign := [name for name in inner if not _RESULT.fullmatch(name)]:
            raise QueryError(
                f"output {shown} holds {foreign[0]!r}, which is not a result of muntin run, so --overwrite "
                "leaves the folder alone. Choose another --output, or remove the folder yourself."
            )
        yield place


def _continues(files: Files, name: str, place: str, checkpoint: str, query: str) -> None:
    """Refuse a folder that another query than that of the checkpoint has written."""
    inner = files.list(place)
    if not inner:
        return
    owner = files.read(f"{place}/{QUERY}").strip() if QUERY in inner else ""
    if owner != query:
        raise QueryError(
            f"output {hide_user_info(place)} of {name!r} was not written by the stream that checkpoint "
            f"{hide_user_info(checkpoint)} continues. "
            "Choose another --output, or another --checkpoint."
        )
