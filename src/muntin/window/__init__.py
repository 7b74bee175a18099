"""Windows: what every kind says of itself, the kinds, and the algebra of periodic ones."""

from muntin.window.kind import Grid, Instance, Kind, Starts
from muntin.window.kinds import KINDS, AnyWindow, from_dict, in_order
from muntin.window.lengths import Length
from muntin.window.periodic import Period, Window, hopping, on_grid, recurrence, tumbling
from muntin.window.text import parse_window, parse_windows

__all__ = [
    "KINDS",
    "AnyWindow",
    "Grid",
    "Instance",
    "Kind",
    "Length",
    "Period",
    "Starts",
    "Window",
    "from_dict",
    "hopping",
    "in_order",
    "on_grid",
    "parse_window",
    "parse_windows",
    "recurrence",
    "tumbling",
]
