"""Multi-query optimizers: which windows share one stream of partials, and which had better not."""

from muntin.plan.slicing.weave.planner import ALGORITHMS, Weave, weave
from muntin.plan.slicing.weave.technique import FORMS, TECHNIQUES

__all__ = ["ALGORITHMS", "FORMS", "TECHNIQUES", "Weave", "weave"]
