"""What the Spark of a session can do: planning asks here, and nowhere else looks at versions.

What a Spark lacks takes a shape or a way to merge out of the choice, and explain says so; asked for by name it is an
UnsupportedError that names the version to use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import types as T

SPATIAL: tuple[type[T.DataType], ...] = (T.SpatialType,) if hasattr(T, "SpatialType") else ()
"""The types of places on the globe, which Spark has since 4.1."""
TIMES: tuple[type[T.DataType], ...] = (
    *(T.DateType, T.TimestampType, T.TimestampNTZType),
    *((T.DatetimeType,) if hasattr(T, "DatetimeType") else ()),
)
"""The types of dates and times; since 4.1 they have a type in common, with times of day."""


class Feature(Enum):
    """Something that not every supported Spark has, and the version that it came with."""

    STATE_BY_ROWS = "stateful processors that take rows (transformWithState)", (4, 1)
    QUANTILE_SKETCHES = "sketches of quantiles (kll_sketch_agg)", (4, 1)
    SEGMENT_TREES = "segment trees for window functions", (4, 2)
    MERGED_SETS = "merged sets (collect_union)", (4, 3)

    def __init__(self, what: str, since: tuple[int, int]) -> None:
        self.what, self.since = what, since

    @property
    def version(self) -> str:
        """The version that has it, as people write it."""
        return ".".join(map(str, self.since))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a session can do, by the version of its Spark."""

    version: str

    def has(self, feature: Feature) -> bool:
        """Tell whether a feature is there.

        >>> [Capabilities(version).has(Feature.QUANTILE_SKETCHES) for version in ("4.0.5", "4.1.0", "5.0.0-SNAPSHOT")]
        [False, True, True]
        """
        return _number(self.version) >= feature.since

    def lack(self, feature: Feature) -> str | None:
        """Say that a feature is missing, and which Spark has it; None if it is there.

        >>> Capabilities("4.2.1").lack(Feature.MERGED_SETS)
        'merged sets (collect_union) need Spark 4.3; this session has 4.2.1'
        """
        if self.has(feature):
            return None
        return f"{feature.what} need Spark {feature.version}; this session has {self.version}"


def capabilities(spark: SparkSession) -> Capabilities:
    """Give what a session can do: behind Spark Connect, what both the server and this client can."""
    return Capabilities(min(spark.version, pyspark.__version__, key=_number))


def _number(version: str) -> tuple[int, int]:
    """Read the first two numbers of a version.

    >>> _number("4.10.0.dev1")
    (4, 10)
    """
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)
