"""The README for package registries: links to files become addresses. All else is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import setup

REPOSITORY = "https://github.com/muntin/muntin"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def _address(link: re.Match[str]) -> str:
    picture, text, target = link.groups()
    return f"{picture}[{text}]({REPOSITORY}/{'raw' if picture else 'blob'}/main/{target})"


readme = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
setup(long_description=LINK.sub(_address, readme), long_description_content_type="text/markdown")
