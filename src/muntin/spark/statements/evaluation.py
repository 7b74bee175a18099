"""Queries over one input, evaluated together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from muntin.choices import AnyStrategy
from muntin.plan.show.shown import Shown
from muntin.query import Query
from muntin.spark.run import aggregate, explain
from muntin.spark.statements.inputs import SharedInput
from muntin.window import Length


@dataclass(frozen=True, slots=True)
class Options:
    """How statements are evaluated."""

    watermark: Length | None = None
    strategy: AnyStrategy = "auto"

    def of(self, frame: DataFrame) -> dict[str, Any]:
        """Give the options of an input; a watermark is for streams."""
        return {"strategy": self.strategy} | ({"watermark": self.watermark} if frame.isStreaming else {})


def evaluated(shared: SharedInput, options: Options) -> Mapping[str, DataFrame]:
    """Give the rows of every query."""
    return {
        name: aggregate(*_asked(shared.frame, query), **options.of(shared.frame))
        for name, query in shared.queries.items()
    }


def explained(shared: SharedInput, options: Options) -> Shown:
    """Give the plan of all queries."""
    (query, *_) = shared.queries.values()
    return explain(*_asked(shared.frame, query), **options.of(shared.frame))


def _asked(frame: DataFrame, query: Query) -> tuple[Any, ...]:
    rows = frame if query.where is None else frame.where(query.where.value)
    return rows, query.time, [key.value.alias(key.name) for key in query.by], query.windows, query.aggregates
