"""Multi-query optimizers: which windows share one stream of partials, and which are cheaper apart."""

from muntin.plan.slicing.weave.omega import FORMS, OMEGAS
from muntin.plan.slicing.weave.planner import WEAVES, Weave, weave

__all__ = ["FORMS", "OMEGAS", "WEAVES", "Weave", "weave"]
