"""Multi-query optimizers: which windows share one stream of partials, and which had better not."""

from muntin.plan.weave.planner import ALGORITHMS, Weave, weave
from muntin.plan.weave.technique import FORMS, TECHNIQUES

__all__ = ["ALGORITHMS", "FORMS", "TECHNIQUES", "Weave", "weave"]
