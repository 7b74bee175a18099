"""How Kafka topics are read: what --input-option and --input-options-file say, checked before Spark starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from muntin.cli.queries.inputs import Source
from muntin.cli.queries.settings_files import read_settings
from muntin.errors import QueryError

OFFSETS = (
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "groupIdPrefix",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
)
"""What Spark's connector can be told beside the options of Kafka's consumers."""
_CONSUMER = re.compile(r"kafka\.[\w.-]+")
_SIGNS = re.compile(r"[^\w.-]")
_SERVERS = "kafka.bootstrap.servers"

Option = tuple[str, str, str]
"""The name of an input, or nothing for all topics, a key and a value."""


def with_options(sources: Sequence[Source], options: Iterable[str], files: Iterable[str]) -> tuple[Source, ...]:
    """Return inputs with their options; those of the command line go before those of files."""
    names = [source.name for source in sources]
    listed = [*_of_files(files, names), *_of_texts(options, names)]
    for name, key, _ in listed:
        _check(sources, name, key)
    return tuple(
        replace(source, options={key: value for name, key, value in listed if name in ("", source.name)})
        if source.format == "kafka"
        else source
        for source in sources
    )


def _of_texts(options: Iterable[str], names: Sequence[str]) -> Iterator[Option]:
    for text in options:
        name, pair = _for_input(text, names)
        key, sign, value = (part.strip() for part in pair.partition("="))
        if not (key and sign and value):
            shown = _SIGNS.split(pair, maxsplit=1)[0]
            raise QueryError(
                f"--input-option {shown!r} is not KEY=VALUE. Write --input-option kafka.security.protocol=SASL_SSL."
            )
        yield name, key, value


def _of_files(files: Iterable[str], names: Sequence[str]) -> Iterator[Option]:
    for text in files:
        name, file = _for_input(text, names)
        for key, value in read_settings(file, "--input-options-file").items():
            yield name, key, value


def _for_input(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Take the name of an input off a text, if it begins with one.

    >>> _for_input("events=kafka.security.protocol=SSL", ["events"]), _for_input("kafka.security.protocol=SSL", ["e"])
    (('events', 'kafka.security.protocol=SSL'), ('', 'kafka.security.protocol=SSL'))
    """
    name, sign, after = text.partition("=")
    return (name.strip(), after.strip()) if sign and name.strip() in names else ("", text.strip())


def _check(sources: Sequence[Source], name: str, key: str) -> None:
    """Refuse a key that Spark does not know for topics, and options where there is no topic."""
    shown = _SIGNS.split(key, maxsplit=1)[0]  # what follows may be a password
    topics = [source.name for source in sources if source.format == "kafka"]
    if name and name not in topics:
        raise QueryError(f"option {shown!r} is for Kafka's topics, and input {name!r} is none. Leave it out.")
    if not topics:
        raise QueryError(f"option {shown!r} is for Kafka's topics, and no input is one. Write kafka://HOST:PORT/TOPIC.")
    if key.lower() == _SERVERS:
        raise QueryError(f"option {shown!r} is given by the address of the topic. Write kafka://HOST:PORT/TOPIC.")
    if key not in OFFSETS and not _CONSUMER.fullmatch(key):
        raise QueryError(
            f"option {shown!r} is unknown. Write options of Kafka's consumer as kafka.KEY; others are "
            f"{', '.join(OFFSETS)}."
        )
