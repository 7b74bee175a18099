"""python -m tools.pictures: draw every kind of window, as docs/windows.md shows them."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.pictures.gallery import pictures


def main() -> None:
    """Read the command line, and write the pictures into a folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/windows"), help="where to (%(default)s)")
    out = parser.parse_args().out
    write_pictures(out)
    print(f"wrote {out}")


def write_pictures(folder: Path) -> None:
    """Write every picture as a file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures():
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
