"""Windows as text: "1 hour every 5 minutes", "1h/5m+30s", and several with commas between them."""

from __future__ import annotations

import re

from muntin.errors import QueryError
from muntin.window.periodic import Window

_WINDOW_TEXT = re.compile(
    r"\s*(?P<range>[^/+@]+?)\s*(?:(?:/|\bevery\b|\bby\b)\s*(?P<slide>[^/+@]+?)\s*)?(?:(?:\+|@|\boffset\b)\s*(?P<offset>[^/+@]+?)\s*)?",
    re.IGNORECASE,
)

LONGEST_TEXT = 200
"""How many characters the text of a window may have."""


def parse_window(text: str) -> Window:
    """Read one window from text: a range, then optionally a slide and an offset.

    >>> parse_window("1 hour every 5 minutes") == parse_window("1h/5m") == Window("1 hour", "5 minutes")
    True
    >>> parse_window("20"), parse_window("20 min offset 5 min").label
    (Window(20, 20), '20m+5m')
    """
    words = " ".join(text.split())
    if len(words) > LONGEST_TEXT:
        raise QueryError(f"the window '{words[:20]}…' has {len(words):,} characters. Use at most {LONGEST_TEXT}.")
    parts = _WINDOW_TEXT.fullmatch(words)
    if "," in text:
        raise QueryError(f"{text!r} is to be one window. Write several as a list of texts, and a sum as '1h30m'.")
    if parts is None:
        raise QueryError(
            f"cannot read {text!r} as a window. Write '20 minutes', '1 hour every 5 minutes' or '1h/5m+30s'."
        )

    def length(value: str) -> int | str:
        return int(value) if re.fullmatch(r"-?\d{1,25}", value) else value

    range, slide, offset = parts["range"], parts["slide"], parts["offset"]
    return Window(length(range), None if slide is None else length(slide), 0 if offset is None else length(offset))


def parse_windows(text: str) -> tuple[Window, ...]:
    """Read windows separated by commas, all with a unit of time or all without.

    >>> [window.label for window in parse_windows("20 minutes, 1h/5m")]
    ['20m', '1h/5m']
    >>> parse_windows("20, 30 minutes")
    Traceback (most recent call last):
    muntin.errors.QueryError: '20' in '20, 30 minutes' has no unit of time. Write '20 minutes', or no units at all.
    """
    texts = [part.strip() for part in text.split(",") if part.strip()]
    windows = tuple(map(parse_window, texts))
    bare = [part for part, window in zip(texts, windows, strict=True) if not window.is_timed]
    if bare and len(bare) < len(texts):
        timed = next(part for part, window in zip(texts, windows, strict=True) if window.is_timed)
        unit = re.findall(r"\d\s*([^\W\d_]+)", timed)[-1].lower()
        remedy = re.sub(r"\d+", rf"\g<0> {unit}", bare[0])
        raise QueryError(f"{bare[0]!r} in {text!r} has no unit of time. Write {remedy!r}, or no units at all.")
    return windows
