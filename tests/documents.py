"""The code in documents: found by its fences, and run in order, a page in one namespace.

A block of Python is run, and prints what stands in the block without a language right below it, if there is one. A
block of SQL is given to mt.sql, with the page's DataFrames as tables, and is kept as a file if it has a title. In a
block of shell commands, every line `muntin …` is run. `>>>` lines are doctests. What cannot run says why in a comment
above it: `<!-- not run: it needs a Kafka broker -->`.

Pages that need a broker are followed as a person would: tests/kafka/reader.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = ROOT / "docs/benchmarks.md"
ELSEWHERE = (ROOT / "docs/kafka.md", ROOT / "docs/walkthrough.md")
"""Pages whose blocks tests of their own run: these are run by tests/kafka, against a broker."""
RUN = ("python", "sql", "sh")
LANGUAGES = (*RUN, "pycon", "text", "toml", "yaml", "mermaid")

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a document, and the output that stands right below it."""

    language: str
    code: str
    line: int
    title: str | None = None
    reason: str | None = None
    output: str | None = None


def pages() -> tuple[Path, ...]:
    """Give all documents that people write."""
    return (ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path != GENERATED))


def blocks(text: str) -> Iterator[Block]:
    """Find the blocks of a document; a block without a language below one of Python or shell is what that prints."""
    found = list(FENCE.finditer(text))
    for at, fence in enumerate(found):
        if _is_output(text, found, at):
            continue
        below = found[at + 1]["code"] if at + 1 < len(found) and _is_output(text, found, at + 1) else None
        line = text.count("\n", 0, fence.start("code"))
        yield Block(fence["language"], fence["code"], line, fence["title"], fence["reason"], below)


def _is_output(text: str, found: list[re.Match[str]], at: int) -> bool:
    return (
        at > 0
        and not found[at]["language"]
        and found[at - 1]["language"] in ("python", "sh")
        and not text[found[at - 1].end() : found[at].start()].strip()
    )


def with_output(text: str, block: Block, printed: str) -> str:
    """Put what a block prints now below it."""
    code = f"```{block.language}\n{block.code}```\n\n```\n"
    return text.replace(f"{code}{block.output}```", f"{code}{printed}```") if block.output is not None else text
