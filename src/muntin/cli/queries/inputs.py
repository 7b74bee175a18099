"""What --input, --input-format and --schema say, checked before Spark starts."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from muntin import paths
from muntin.errors import QueryError
from muntin.safe_text import hide_user_info

Format = Literal["parquet", "csv", "json", "delta", "kafka"]
FORMATS: tuple[Format, ...] = get_args(Format)

RESERVED = ("spark", "dialect", "boundaries", "watermark", "strategy", "tables")
"""Names that mt.sql takes for something else."""

_SUFFIXES: Mapping[str, Format] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
_KAFKA = re.compile(r"kafka://(?P<servers>[^/\s]+:\d+)/(?P<topic>[\w.-]+)")


@dataclass(frozen=True, slots=True)
class Source:
    """An input: the name that statements know it by, and where Spark reads it."""

    name: str
    format: Format
    path: str = field(repr=False)
    """A path as Spark takes it; of Kafka, the topic."""
    schema: str | None = None
    """The columns, as in CREATE TABLE; None where the files tell them."""
    servers: str = ""
    """Of Kafka, the brokers."""
    folder: Path | None = None
    """The file or folder, where it is on this machine."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of Kafka, how Spark reads the topic; passwords may be among them."""


def sources(
    inputs: Iterable[str], formats: Sequence[str] = (), schemas: Sequence[str] = (), *, stream: bool = False
) -> tuple[Source, ...]:
    """Read the options of all inputs, and look that files are there.

    >>> sources(["events=kafka://localhost:9092/clicks"])[0].path
    'clicks'
    """
    places = _named("--input", inputs)
    for name in places:
        if name in RESERVED:
            raise QueryError(f"input {name!r} has a name that mt.sql takes for itself. Choose another name.")
    forms = _for_inputs("--input-format", formats, places)
    columns = _for_inputs("--schema", schemas, places)
    return tuple(
        _source(name, place, forms.get(name), columns.get(name), stream=stream) for name, place in places.items()
    )


def _named(option: str, values: Iterable[str]) -> dict[str, str]:
    """Take NAME=VALUE apart.

    >>> _named("--input", ["events=data/events.parquet"])
    {'events': 'data/events.parquet'}
    """
    named: dict[str, str] = {}
    for text in values:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value) or "://" in name:
            raise QueryError(f"{option} {hide_user_info(text)!r} is not NAME=VALUE. Write {option} events=VALUE.")
        if name in named:
            raise QueryError(f"{option} gives {name!r} twice. Give every name once.")
        named[name] = value
    return named


def _for_inputs(option: str, values: Sequence[str], places: Mapping[str, str]) -> dict[str, str]:
    """Take [NAME=]VALUE apart; without a name, a value is for the only input."""
    if len(values) == len(places) == 1 and values[0].partition("=")[0].strip() not in places:
        return {next(iter(places)): values[0].removeprefix("=").strip()}
    named = _named(option, values)
    for name in named:
        if name not in places:
            known = ", ".join(map(repr, places)) or "no inputs"
            raise QueryError(f"{option} names {name!r}, which is not an input. There are {known}.")
    return named


def _source(name: str, place: str, form: str | None, schema: str | None, *, stream: bool) -> Source:
    if form is not None and form not in FORMATS:
        raise QueryError(f"input {name!r} has the unknown format {form!r}. Known are {', '.join(FORMATS)}.")
    if place.startswith("kafka:"):
        return _topic(name, place, schema)
    if paths.is_remote(place):
        suffix = form or _by_suffix(place.rstrip("/"))
        return Source(name, _known(name, place, suffix), place, schema)
    return _local(name, paths.local(place), form, schema, stream=stream)


def _topic(name: str, place: str, schema: str | None) -> Source:
    if not (parts := _KAFKA.fullmatch(place)):
        raise QueryError(f"input {name!r}: {hide_user_info(place)!r} is not a topic. Write kafka://HOST:PORT/TOPIC.")
    if "@" in parts["servers"]:
        raise QueryError(
            f"input {name!r}: {hide_user_info(place)!r} has a user, which Kafka's addresses do not have. Write "
            "kafka.sasl.jaas.config into a file, and add --input-options-file PATH."
        )
    return Source(name, "kafka", parts["topic"], schema, parts["servers"])


def _local(name: str, place: Path, form: str | None, schema: str | None, *, stream: bool) -> Source:
    """Look at a file, a folder, or a pattern of them, on this machine."""
    if (place / "_delta_log").is_dir() and form in (None, "delta"):
        return Source(name, "delta", paths.url(place), schema, folder=place)
    is_there = place.exists()
    places = [place] if is_there else [Path(match) for match in glob.glob(str(place))]  # noqa: PTH207 - it is absolute
    if not places:
        raise QueryError(f"input {name!r} does not exist: there is no {place}. Check the path.")
    if stream and place.is_file():
        raise QueryError(f"input {name!r} is the file {place}. A stream reads a folder that files arrive in.")
    first = next((file for each in places for file in _files(each)), None)
    if first is None and not (stream and form and schema):
        more = " A stream may begin with none if --input-format and --schema say what will come." if stream else ""
        raise QueryError(f"input {name!r} is empty: there are no files in {place}.{more}")
    path = paths.pattern(place) if is_there else paths.url(place)
    own = form or (first and _by_suffix(str(first))) or _by_suffix(str(place))
    return Source(name, _known(name, str(place), own), path, schema, folder=place)


def _known(name: str, place: str, form: str | None) -> Format:
    for known in FORMATS:
        if form == known:
            return known
    raise QueryError(
        f"input {name!r}: {hide_user_info(place)} does not show its format. "
        f"Add --input-format {name}=parquet, csv, json or delta."
    )


def _files(place: Path) -> Iterator[Path]:
    """Yield the files that Spark reads in a folder: none whose name begins with a dot or an underscore."""
    if place.is_file():
        yield place
        return
    for inner in sorted(place.iterdir()):
        if not inner.name.startswith((".", "_")):
            yield from _files(inner)


def _by_suffix(text: str) -> Format | None:
    """Tell a format by the end of a name.

    >>> _by_suffix("data/part-0.csv.gz"), _by_suffix("data/EVENTS.jsonl"), _by_suffix("data")
    ('csv', 'json', None)
    """
    path = Path(text.lower())
    return _SUFFIXES.get(path.with_suffix("").suffix if path.suffix in _COMPRESSED else path.suffix)
