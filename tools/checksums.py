"""Check a folder of jars against tools/jars.sha256: python tools/checksums.py FOLDER. --write enters new ones."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

LIST = Path(__file__).with_name("jars.sha256")


def check_jars(folder: Path, listed: Path = LIST) -> None:
    """Fail, and remove the jar, where a jar has no checksum in the list or another one."""
    sums = read_sums(listed)
    for jar in sorted(folder.glob("*.jar")):
        if (digest := checksum(jar)) != sums.get(jar.name):
            jar.unlink()
            raise SystemExit(
                f"{jar.name} was removed: its SHA-256 is {digest}, and {listed.name} has {sums.get(jar.name)}."
            )


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
    *options, name = sys.argv[1:]
    (write_sums if options == ["--write"] else check_jars)(Path(name))
