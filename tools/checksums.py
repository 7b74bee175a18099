"""Check a folder of jars against tools/jars.sha256: python tools/checksums.py FOLDER, or FOLDER JAR… for some of them.

--write FOLDER enters new ones.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

LIST = Path(__file__).with_name("jars.sha256")


def check_jars(folder: Path, listed: Path = LIST, names: Sequence[str] = ()) -> None:
    """Remove every jar that has no checksum in the list or another one, of all jars or some, and fail if there is any.

    A jar of the names that is not there fails as well, when the others have been checked.
    """
    if not listed.exists():
        raise SystemExit(f"{listed} is missing, so no jar can be checked. Get it with: git checkout tools/{LIST.name}")
    sums = read_sums(listed)
    errors = []
    for jar in [folder / name for name in names] or sorted(folder.glob("*.jar")):
        if not jar.exists():
            errors.append(f"{jar} is missing. Fetch it again.")
        elif (digest := checksum(jar)) != sums.get(jar.name):
            jar.unlink()
            errors.append(
                f"{jar.name} was removed: its SHA-256 is {digest}, and {listed.name} has {sums.get(jar.name)}."
            )
    if errors:
        raise SystemExit("\n".join(errors))


def write_sums(folder: Path, listed: Path = LIST) -> None:
    """Enter the jars of a folder into the list, beside those that it has."""
    sums = read_sums(listed) | {jar.name: checksum(jar) for jar in folder.glob("*.jar")}
    listed.write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="utf-8")


def read_sums(listed: Path) -> dict[str, str]:
    """Return the checksum of every jar in a list."""
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else ()
    return {name: digest for digest, name in (line.split() for line in lines)}


def checksum(jar: Path) -> str:
    """Return the SHA-256 of a file."""
    with jar.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--write", name]:
            write_sums(Path(name))
        case [name, *names]:
            check_jars(Path(name), names=names)
        case _:
            raise SystemExit(__doc__)
