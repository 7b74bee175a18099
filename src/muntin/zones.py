"""Time zones by the names that Spark takes for its sessions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from muntin.errors import QueryError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])"
    r"(?:(?P<hours>\d{1,2})(?::(?P<minutes>\d{1,2})(?::(?P<seconds>\d{2}))?)?|(?P<h>\d{2})(?P<m>\d{2})(?P<s>\d{2})?)"
)
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00",
    "MST": "-07:00",
    "HST": "-10:00",
    "Z": "UTC",
    "UT": "UTC",
}
"""Java's short names, which Spark takes as well."""


def zone_of(name: str) -> tzinfo:
    """Return the time zone that Spark means by a name.

    >>> [str(zone_of(name)) for name in ("+02:00", "GMT+2", "UTC-01:30", "Europe/Berlin", "PST")]
    ['UTC+02:00', 'UTC+02:00', 'UTC-01:30', 'Europe/Berlin', 'America/Los_Angeles']
    """
    full = _SHORT.get(name, name)
    if offset := _OFFSET.fullmatch(full):
        parts = offset.groupdict(default="0")
        hours, minutes, seconds = (int(parts[long]) + int(parts[long[0]]) for long in ("hours", "minutes", "seconds"))
        shift = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-shift if parts["sign"] == "-" else shift)
    try:
        return ZoneInfo(full)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise QueryError(
            f"the session's time zone {name!r} is unknown to Python. Use one such as 'Europe/Berlin' or '+02:00', "
            "or install tzdata."
        ) from error


def instant(clock: int, zone: str) -> int:
    """Return the instant at which clocks of a zone show a time; both are microseconds since 1970.

    >>> instant(0, "+02:00")
    -7200000000
    """
    return ((_EPOCH + clock * _MICROSECOND).replace(tzinfo=zone_of(zone)) - _EPOCH) // _MICROSECOND
