"""What is logged of plans: the shape that was chosen, and why."""

from __future__ import annotations

import logging

from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.rolling import RollingPlan
from muntin.plan.physical.stream import StreamPlan

log = logging.getLogger("muntin.spark")


def log_plan(plan: PhysicalPlan | StreamPlan | RollingPlan) -> None:
    """Say what was chosen and what it was weighed against; with DEBUG, all that mt.explain says."""
    if log.isEnabledFor(logging.INFO):
        costs = ", ".join(f"{name} {cost / 1e6:.3g}" for name, cost in plan.alternatives)
        weighed = costs if len(plan.alternatives) > 1 else "not weighed"
        log.info("%r by strategy %r; core-seconds: %s", plan, plan.strategy, weighed)
    for note in plan.notes:
        log.info("%s", note)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s", plan.explain())
