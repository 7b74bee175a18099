"""Queries over one input, evaluated together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from muntin.choices import Sharing, check_choice
from muntin.duration import Duration
from muntin.plan.physical.options import StreamOptions
from muntin.plan.sharing import SharingPlan
from muntin.spark.queries.results import Results
from muntin.spark.queries.run import evaluate, explain_queries
from muntin.spark.statements.inputs import SharedInput
from muntin.window import Length


@dataclass(frozen=True, slots=True)
class Options:
    """How statements are evaluated."""

    watermark: Duration | None
    """How much later than the latest event a row of a stream may come; None leaves it to the source."""
    strategy: Sharing

    def __init__(self, watermark: Length | None = None, strategy: Sharing = "auto") -> None:
        check_choice("strategy", strategy, Sharing)
        object.__setattr__(self, "watermark", StreamOptions(watermark).watermark)
        object.__setattr__(self, "strategy", strategy)

    def of(self, frame: DataFrame) -> dict[str, Any]:
        """Give the options of an input; a watermark is for streams."""
        return {"strategy": self.strategy} | ({"watermark": self.watermark} if frame.isStreaming else {})


def evaluated(shared: SharedInput, options: Options) -> Results:
    """Give the rows of every query."""
    return evaluate(shared.frame, list(shared.queries.values()), **options.of(shared.frame))


def explained(shared: SharedInput, options: Options) -> SharingPlan:
    """Give the plan of all queries."""
    return explain_queries(shared.frame, list(shared.queries.values()), **options.of(shared.frame))
