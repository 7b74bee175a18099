"""Queries over one input, evaluated together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from muntin.choices import Sharing, check_choice
from muntin.plan.sharing import SharingPlan
from muntin.spark.queries.results import Results
from muntin.spark.queries.run import evaluate, explain_queries
from muntin.spark.statements.inputs import SharedInput
from muntin.window import Length


@dataclass(frozen=True, slots=True)
class Options:
    """How statements are evaluated."""

    watermark: Length | None = None
    strategy: Sharing = "auto"

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, Sharing)

    def of(self, frame: DataFrame) -> dict[str, Any]:
        """Give the options of an input; a watermark is for streams."""
        return {"strategy": self.strategy} | ({"watermark": self.watermark} if frame.isStreaming else {})


def evaluated(shared: SharedInput, options: Options) -> Results:
    """Give the rows of every query."""
    return evaluate(shared.frame, list(shared.queries.values()), **options.of(shared.frame))


def explained(shared: SharedInput, options: Options) -> SharingPlan:
    """Give the plan of all queries."""
    return explain_queries(shared.frame, list(shared.queries.values()), **options.of(shared.frame))
