"""Fail if a page of the built site loads anything over the network: python tools/offline.py site."""

import re
import sys
from pathlib import Path

LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|data)=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon|modulepreload))[^>]*?\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
)
STYLES = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


def loaded(site: Path) -> list[str]:
    """List what pages and styles load from elsewhere."""
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".svg", ".css"):
            pattern = STYLES if path.suffix == ".css" else LOADS
            text = path.read_text(encoding="utf-8")
            found += [f"{path}: {next(filter(None, match.groups()))}" for match in pattern.finditer(text)]
    return found


if __name__ == "__main__":
    (folder,) = sys.argv[1:]
    if elsewhere := loaded(Path(folder)):
        sys.exit("The site must need no network, and loads\n" + "\n".join(elsewhere))
