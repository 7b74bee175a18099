"""The Dockerfile has what the package is built from; hadolint looks at it where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "Dockerfile"


def instructions() -> list[tuple[str, list[str]]]:
    """Read the instructions with their words."""
    lines = [line for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(words[0], words[1:]) for words in map(str.split, joined.splitlines()) if words]


def copied() -> set[str]:
    return {name for verb, words in instructions() if verb == "COPY" for name in words[:-1]}


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert copied() == {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied())


def test_what_the_build_reads_is_copied() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license-files = ["LICENSE"]' in project
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", "src"} <= copied()


def test_it_installs_java_and_runs_the_demo() -> None:
    text = DOCKERFILE.read_text(encoding="utf-8")
    assert re.search(r"openjdk-(1[7-9]|2\d)-jre", text)
    assert instructions()[-2:] == [("ENTRYPOINT", ['["muntin"]']), ("CMD", ['["demo"]'])]


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_finds_nothing() -> None:
    told = subprocess.run(["hadolint", DOCKERFILE], capture_output=True, text=True, check=False)  # noqa: S607
    assert told.returncode == 0, told.stdout
