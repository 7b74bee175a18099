"""The exceptions of Muntin.

    MuntinError
    ├── QueryError        the query is wrong; the message says what would be right
    ├── UnsupportedError  the query is valid but not supported here; the message says what to do instead
    └── InternalError     a defect of Muntin; please report it

Errors that Spark raises pass through unchanged. MuntinWarning is the category of all warnings.
"""

from __future__ import annotations


class MuntinError(Exception):
    """Root of all exceptions that Muntin raises.

    >>> issubclass(QueryError, MuntinError)
    True
    """


class QueryError(MuntinError, ValueError):
    """The query is wrong; the message says how to fix it.

    >>> import muntin as mt
    >>> mt.hopping("5 minutes", "10 minutes")
    Traceback (most recent call last):
    muntin.errors.QueryError: slide 10m exceeds range 5m. Use a slide of at most 5m.
    """


class UnsupportedError(MuntinError, NotImplementedError):
    """The query is valid but not supported here; the message says what to do instead.

    >>> issubclass(UnsupportedError, NotImplementedError)
    True
    """


class InternalError(MuntinError, AssertionError):
    """Muntin has a bug: please report it.

    >>> issubclass(InternalError, AssertionError)
    True
    """


class MuntinWarning(UserWarning):
    """The query is valid but may cost more than you expect; the message says how much.

    >>> import warnings
    >>> warnings.simplefilter("error", MuntinWarning)  # make it an error
    >>> warnings.simplefilter("default", MuntinWarning)
    """
