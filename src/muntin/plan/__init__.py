"""Planning: the window coverage graph, the optimizers, and plans to look at; needs neither Spark nor Numba."""

from muntin.plan.forest.logical import Node, Plan
from muntin.plan.forest.planner import ALGORITHMS, plan
from muntin.plan.forest.problem import Semantics

__all__ = ["ALGORITHMS", "Node", "Plan", "Semantics", "plan"]
