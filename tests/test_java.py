"""tools/java says what it is about to install, and installs only as root on Debian: with commands that only pretend."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools/java"
SAYS = (
    "Spark needs Java 17 or later: installing Debian's default-jre-headless with apt-get. "
    "To use a Java of your own, set JAVA_HOME."
)
REFUSAL = "Spark needs Java 17 or later, and none was found."


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """Return the only folder on the path: the tools of the script, a Java 11, and an apt-get that makes it a 17."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "cat", "cp", "grep", "head", "sed"):
        (folder / name).symlink_to(shutil.which(name) or name)
    write_java(folder / "java", 11)
    write_java(tmp_path / "java17", 17)
    write_command(folder / "apt-get", f'echo "apt-get $1" >&2\n[ "$1" = update ] || cp {tmp_path}/java17 {folder}/java')
    return folder


def write_command(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def write_java(path: Path, version: int) -> None:
    write_command(path, f"""echo 'openjdk version "{version}.0.1" 2024-01-16' >&2""")


def run_script(commands: Path, user: int, **variables: str) -> tuple[int, list[str]]:
    """Return the exit code, and all lines in the order in which they were written; nobody answers a question."""
    write_command(commands / "id", f"echo {user}")
    done = subprocess.run(
        [SCRIPT],
        env={"PATH": str(commands), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_one_line_before_an_installation_names_the_package_and_how_to_do_without(commands: Path) -> None:
    assert run_script(commands, user=0) == (0, [SAYS, "apt-get update", "apt-get install"])


@pytest.mark.parametrize("user", [0, 1000])
def test_a_java_that_is_there_is_used_without_a_word(commands: Path, user: int) -> None:
    write_java(commands / "java", 21)
    assert run_script(commands, user) == (0, [])


def test_a_java_of_the_user_is_never_replaced(commands: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    write_java(home / "bin/java", 21)
    assert run_script(commands, user=0, JAVA_HOME=str(home)) == (0, [])
    write_java(home / "bin/java", 8)
    code, lines = run_script(commands, user=0, JAVA_HOME=str(home))
    assert (code, lines[0]) == (1, REFUSAL)
    assert not any(line.startswith("apt-get") for line in lines)


@pytest.mark.parametrize(("user", "debian"), [(1000, True), (0, False)])
def test_only_root_on_debian_installs(commands: Path, user: int, debian: bool) -> None:
    if not debian:
        (commands / "apt-get").unlink()
    code, lines = run_script(commands, user)
    assert (code, lines[0]) == (1, REFUSAL)
    assert "sudo apt-get install" in lines[1]
    assert not any(line.startswith("apt-get") for line in lines)
