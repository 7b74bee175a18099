"""Names that would do harm where somebody took them for markup, SQL, or orders to a terminal."""

from __future__ import annotations

HOSTILE = (
    '<script>alert("x")</script>',
    "' OR 1=1; DROP TABLE events; --",
    "a`b``c",
    '"quoted" and \\backslash\\',
    "${env:HOME} %s {0} {{x}}",
    "[bold red]no markup[/]",
)
ORDERS = ("\x1b[2J\x1b[31mred", "two\nlines", "back\rover", "\x9b31mred", "\u202eright to left", "tab\tbell\x07")
"""What a terminal obeys."""


def is_printable(text: str) -> bool:
    """Whether a terminal obeys nothing in a text but the ends of lines, and tabs."""
    return text.replace("\n", "").replace("\t", "").isprintable()
