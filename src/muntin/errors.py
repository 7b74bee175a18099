"""The exceptions of Muntin.

    MuntinError
    ├── QueryError        the query is wrong; the message says what would be right
    ├── UnsupportedError  the query is right but not done here; the message says what to do instead
    └── InternalError     a defect of Muntin; please report it

Errors that Spark raises pass through unchanged. MuntinWarning is the category of all warnings.
"""

from __future__ import annotations


class MuntinError(Exception):
    """Root of all exceptions that Muntin raises."""


class QueryError(MuntinError, ValueError):
    """The query cannot mean anything: fix the query."""


class UnsupportedError(MuntinError, NotImplementedError):
    """The query has a meaning that is not available here: do what the message says instead."""


class InternalError(MuntinError, AssertionError):
    """An invariant of Muntin does not hold: report it."""


class MuntinWarning(UserWarning):
    """The query is right, and may take more than was meant: the message says how much."""
