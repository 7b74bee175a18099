"""Subsumption groups: windows of which each is answered from the state of the longest one in its group."""

from muntin.plan.subsumption.grouping import METHODS, Subsumption, subsume
from muntin.plan.subsumption.groups import Group, Level
from muntin.plan.subsumption.relation import ending, is_subsumed, left_open
from muntin.plan.subsumption.stairs import Stair, Stretch, granules, stairs

__all__ = [
    "METHODS",
    "Group",
    "Level",
    "Stair",
    "Stretch",
    "Subsumption",
    "ending",
    "granules",
    "is_subsumed",
    "left_open",
    "stairs",
    "subsume",
]
