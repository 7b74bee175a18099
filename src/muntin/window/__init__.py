"""Windows: what every kind says of itself, the kinds, and the algebra of periodic ones."""

from muntin.window.ceiling import LONGEST_WINDOW, MOST_INSTANCES, check_instances, check_lengths
from muntin.window.driven import Delta, Punctuated, Snapshot, Until, While, delta, punctuated, snapshot, until, while_
from muntin.window.growing import Cumulating, Landmark, cumulating, landmark
from muntin.window.kind import Grid, Instance, Kind, Starts, Watch
from muntin.window.kinds import KINDS, AnyWindow, Framed, by_names, from_dict, in_order, periodic
from muntin.window.lengths import Length, RowCount, rows
from muntin.window.making import hopping, tumbling
from muntin.window.measured import LastRows, LastTime, Measured
from muntin.window.periodic import Period, Window, on_grid, recurrence
from muntin.window.sessions import Session, session_window
from muntin.window.text import parse_window, parse_windows
from muntin.window.user import UserWindow, user_window

__all__ = [
    "KINDS",
    "LONGEST_WINDOW",
    "MOST_INSTANCES",
    "AnyWindow",
    "Cumulating",
    "Delta",
    "Framed",
    "Grid",
    "Instance",
    "Kind",
    "Landmark",
    "LastRows",
    "LastTime",
    "Length",
    "Measured",
    "Period",
    "Punctuated",
    "RowCount",
    "Session",
    "Snapshot",
    "Starts",
    "Until",
    "UserWindow",
    "Watch",
    "While",
    "Window",
    "by_names",
    "check_instances",
    "check_lengths",
    "cumulating",
    "delta",
    "from_dict",
    "hopping",
    "in_order",
    "landmark",
    "on_grid",
    "parse_window",
    "parse_windows",
    "periodic",
    "punctuated",
    "recurrence",
    "rows",
    "session_window",
    "snapshot",
    "tumbling",
    "until",
    "user_window",
    "while_",
]
