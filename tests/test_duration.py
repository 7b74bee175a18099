from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.duration import DAY, HOUR, MINUTE, SECOND, Duration, format_duration, parse_duration
from muntin.errors import QueryError


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("5 minutes", 5 * MINUTE),
        ("1 Minute", MINUTE),
        ("1h", HOUR),
        ("1h30m", 90 * MINUTE),
        ("1 hour and 30 minutes", 90 * MINUTE),
        ("1 day, 2 hours", DAY + 2 * HOUR),
        ("interval 10 seconds", 10 * SECOND),
        ("2 weeks", 14 * DAY),
        ("250 ms", 250_000),
        ("7 µs", 7),
        ("1.5 s", 1_500_000),
        ("-5 minutes", -5 * MINUTE),
        ("PT5M", 5 * MINUTE),
        ("P1DT2H3M4.5S", DAY + 2 * HOUR + 3 * MINUTE + 4_500_000),
        ("P1W", 7 * DAY),
        ("-PT1S", -SECOND),
        (timedelta(minutes=5, microseconds=1), 5 * MINUTE + 1),
        (timedelta(seconds=-1), -SECOND),
    ],
)
def test_reads_durations(value: str | timedelta, micros: int) -> None:
    assert parse_duration(value) == micros


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("5 parsecs", "unknown unit 'parsecs' in '5 parsecs'"),
        ("1 month", "has no fixed length. Use days"),
        ("1M", "'M' in '1M' may be minutes or months"),
        ("2 years", "has no fixed length. Use days"),
        ("P1M", "have no fixed length"),
        ("P1Y", "have no fixed length"),
        ("0.5 us", "finer than a microsecond"),
        ("300000 years", "no fixed length"),
        ("200000000 days", "longer than 2**63 - 1 microseconds"),
        ("", "a duration is empty"),
        ("minutes", "cannot read 'minutes' as a duration"),
        ("5", "cannot read '5' as a duration"),
        ("5 minutes or so", "cannot read"),
        ("P", "cannot read"),
        ("5m 10m", "units in '5m 10m' do not fall. Write '1h30m' for one duration, '5m, 10m' for two windows."),
        ("5 minutes, 1 hour", "units in '5 minutes, 1 hour' do not fall."),
        ("10m1h", "do not fall"),
        ("1 week 7 days 1 week", "do not fall"),
    ],
)
def test_refuses_what_is_no_duration(value: str, message: str) -> None:
    with pytest.raises(QueryError) as error:
        parse_duration(value)
    assert message in str(error.value)


@given(st.integers(-(10**17), 10**17))
def test_text_reads_back(micros: int) -> None:
    assert parse_duration(format_duration(micros)) == micros
    assert str(Duration(micros)) == format_duration(micros)
