"""What is agreed about time and output of a stream, checked."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.choices import Late, Output, check_choice
from muntin.duration import Duration, parse_duration
from muntin.errors import QueryError
from muntin.window import Length


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What is agreed about time and output of a stream.

    >>> StreamOptions("10 minutes").watermark
    Duration('10m')
    >>> StreamOptions(late="keep")
    Traceback (most recent call last):
    muntin.errors.QueryError: unknown late 'keep'. Use 'drop' or 'exact'.
    """

    watermark: Duration | None
    """How much later than the latest event a row may come; None leaves it to the input."""
    late: Late
    output: Output
    future: Duration | None
    """How far ahead of the clock a row may be; None for any."""
    late_rows: bool
    """Whether rows that come too late for all windows are given beside the results."""

    def __init__(
        self,
        watermark: Length | None = None,
        late: Late = "drop",
        output: Output = "append",
        future: Length | None = None,
        late_rows: bool = False,
    ) -> None:
        check_choice("late", late, Late)
        check_choice("output", output, Output)
        if not isinstance(late_rows, bool):
            raise QueryError(f"late_rows {late_rows!r} is neither True nor False. Sinks are given to mt.split_late.")
        if late_rows and output != "append":
            raise QueryError(f"late_rows=True is not for output={output!r}. Use output='append'.")
        agreed = {
            "watermark": _delay(watermark),
            "late": late,
            "output": output,
            "future": _length("future", future, "1 hour"),
            "late_rows": late_rows,
        }
        for name, given in agreed.items():
            object.__setattr__(self, name, given)


def _delay(given: Length | None) -> Duration | None:
    """Read a watermark; Spark keeps it in milliseconds."""
    delay = _length("watermark", given, "10 minutes")
    if delay is not None and delay % 1000:
        raise QueryError(
            f"watermark {delay} is not a whole number of milliseconds. Use a duration such as '10 minutes'."
        )
    return delay


def _length(name: str, given: Length | None, example: str) -> Duration | None:
    """Read a length of time from 0 on; a number without a unit would be microseconds, which nobody means."""
    remedy = f"Use a duration such as {example!r}."
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Length):
        raise QueryError(f"{name} {given!r} is not a length of time. {remedy}")
    if isinstance(given, int) and given and not isinstance(given, Duration):
        raise QueryError(f"{name} {given} has no unit of time. Write '{given} seconds', or whatever unit is meant.")
    length = Duration(given) if isinstance(given, int) else parse_duration(given)
    if length < 0:
        raise QueryError(f"{name} {length} is negative. {remedy}")
    return length
