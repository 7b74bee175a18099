"""The number of the format of everything that outlives a query: fingerprints, heads of state, files of registries."""

from __future__ import annotations

from muntin.errors import QueryError

FORMAT = 1
"""The format that this version writes. It reads this one and all lower ones."""


class FormatError(QueryError):
    """What was kept has a format that this version cannot read."""


def check_format(number: object, origin: str) -> None:
    """Refuse what a later version wrote, and what was written before formats had numbers."""
    if number is None:
        raise FormatError(f"{origin} was made before Muntin 0.1, whose state has no format. Use a new checkpoint.")
    if not isinstance(number, int) or number > FORMAT:
        raise FormatError(
            f"{origin} has format {number}, and this version of Muntin knows formats up to {FORMAT}: a later version "
            "has written it. Use that version, or one after it."
        )
