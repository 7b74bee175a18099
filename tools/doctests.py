"""For the API pages: show the doctests of docstrings as code."""

import re
from typing import Any

from griffe import Extension, Object

DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^(?!$).*\n?)*\n?)+", re.MULTILINE)


class Doctests(Extension):
    """Put fences around lines that begin with >>> and what stands below them."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object when it has been read."""
        if obj.docstring and "```" not in obj.docstring.value:
            obj.docstring.value = DOCTEST.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
