"""What tests and builds install has exact versions: a release of somebody else changes nothing here."""

import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LISTS = (ROOT / "constraints.txt", *sorted((ROOT / "tools").glob("constraints-*.txt")))
"""Lists of versions: of the repository, and of environments of their own."""
PLACES = ("Makefile", "Dockerfile", *sorted(f"tools/{path.name}" for path in (ROOT / "tools").iterdir()))
INSTALL = re.compile(r"\bpip install((?:[^\n&|;]|\\\n)*)")
PIN = re.compile(r"[\w.-]+==[\w.]+")


def read_pins(text: str) -> Mapping[str, str]:
    """Return the version of every package in a list; comments and empty lines are none."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(map(PIN.fullmatch, lines)), [line for line in lines if not PIN.fullmatch(line)]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def installations() -> Iterator[tuple[str, str]]:
    """Yield every installation of the repository's own commands, with the file that it is in."""
    for place in PLACES:
        path = ROOT / place
        if path.is_file() and path.suffix not in (".txt", ".sha256"):
            text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
            yield from ((place, arguments) for arguments in INSTALL.findall(text))


def test_every_installation_has_exact_versions() -> None:
    commands = list(installations())
    assert {place for place, _ in commands} == {"Makefile", "Dockerfile", *(f"tools/{n}" for n in NAMES)}
    for place, arguments in commands:
        assert "--constraint " in arguments or "--no-deps " in arguments, f"{place}: pip install{arguments}"


NAMES = ("docs.mk", "flink", "lakehouse.mk")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_a_list_has_exact_versions_only(path: Path) -> None:
    assert len(read_pins(path.read_text(encoding="utf-8"))) > 20


@pytest.mark.parametrize(
    ("place", "listed"),
    [("lakehouse.mk", "delta"), ("lakehouse.mk", "iceberg"), ("lakehouse.mk", "s3"), ("flink", "flink")],
)
def test_what_a_command_names_is_in_its_list(place: str, listed: str) -> None:
    pins = read_pins((ROOT / f"tools/constraints-{listed}.txt").read_text(encoding="utf-8"))
    (arguments,) = [text for name, text in installations() if name == f"tools/{place}" and "--constraint" in text]
    words = [word.strip("\"'") for word in arguments.split("--constraint", 1)[1].split()[1:]]
    names = {canonicalize_name(re.split(r"[=\[]", word)[0]) for word in words if re.match(r"[\w\"']", word)}
    assert len(names) >= 2
    assert names <= pins.keys()


def test_lists_have_the_spark_that_the_tests_are_for() -> None:
    text = (ROOT / "tools/lakehouse.mk").read_text(encoding="utf-8")
    for listed in ("delta", "iceberg", "s3"):
        version = re.search(rf"^{listed.upper()}_SPARK := (\S+)$", text, re.MULTILINE)
        assert version is not None
        pins = read_pins((ROOT / f"tools/constraints-{listed}.txt").read_text(encoding="utf-8"))
        assert pins["pyspark"] == version[1]


@pytest.mark.parametrize("spark", ["", "4.0", "4.1", "4.2", "4.1.2"])
def test_every_spark_has_exact_versions(spark: str) -> None:
    done = subprocess.run([ROOT / "tools/constraints", spark], cwd=ROOT, capture_output=True, text=True, check=True)
    pins, newest = read_pins(done.stdout), read_pins(LISTS[0].read_text(encoding="utf-8"))
    assert pins.keys() == newest.keys()
    assert pins["pyspark"].startswith(spark)
    assert (pins["pyspark"] == newest["pyspark"]) == (not spark)


def test_a_spark_that_nobody_knows_is_refused() -> None:
    done = subprocess.run([ROOT / "tools/constraints", "3.5"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("No PySpark is known for Spark 3.5. Use SPARK=4.0")


def test_builds_use_the_setuptools_of_the_list() -> None:
    version = read_pins(LISTS[0].read_text(encoding="utf-8"))["setuptools"]
    projects = [ROOT / "pyproject.toml", *ROOT.glob("*/pyproject.toml")]
    for project in projects:
        (required,) = tomllib.loads(project.read_text(encoding="utf-8"))["build-system"]["requires"]
        assert str(Requirement(required).specifier) == f"=={version}", project


def test_the_image_is_built_on_an_exact_tag() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.fullmatch(r"FROM python:\d+\.\d+\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?", line)]
