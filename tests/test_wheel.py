"""A wheel, installed with nothing but what it requires, runs the README's examples, a stream included."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from muntin.cli.benchmarks import MISSING
from tests.spark.patience import PAUSES, TOO_SLOW
from tests.wheels import ROOT, build_wheel

PROGRAM = Path(__file__).with_name("run_readme.py")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment with the wheel and what it requires, as it stands in this one, and nothing else.

    The packages are linked and not downloaded again: several hundred megabytes.
    """
    environment = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    with ZipFile(wheel) as archive:
        archive.extractall(packages)
    (metadata,) = packages.glob("muntin-*.dist-info")
    for required in closure(PathDistribution(metadata)):
        link(required, packages)
    return environment


def closure(package: Distribution) -> list[Distribution]:
    """Give all that a package requires, and what that requires; every version has to be allowed."""
    found: dict[str, Distribution] = {}
    asked = [(text, "") for text in package.requires or ()]
    while asked:
        text, extra = asked.pop()
        required = Requirement(text)
        if required.marker is not None and not required.marker.evaluate({"extra": extra}):
            continue
        other = distribution(required.name)
        assert required.specifier.contains(other.version, prereleases=True), text
        if required.name not in found or required.extras:
            found[required.name] = other
            asked += [(text, extra) for text in other.requires or () for extra in (required.extras or [""])]
    return list(found.values())


def link(package: Distribution, packages: Path) -> None:
    """Link the files of a package; in folders that packages share, what lies in them."""
    for file in package.files or ():
        if file.parts[0] in ("..", "__pycache__") or file.suffix == ".pth":
            continue
        source = Path(str(package.locate_file(""))) / file.parts[0]
        target = packages / file.parts[0]
        if source.is_dir() and not (source / "__init__.py").exists() and len(file.parts) > 2:
            target.mkdir(exist_ok=True)
            source, target = source / file.parts[1], target / file.parts[1]
        if not target.exists():
            target.symlink_to(source)


def test_the_wheel_has_all_that_is_in_the_source_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "muntin").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == source


def test_links_of_the_readme_work_anywhere(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(name).decode()
    _, readme = text.split("\n\n", 1)
    targets = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert targets
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    pages = [re.search(r"/(?:blob|raw)/main/([^#]+)", target) for target in targets]
    assert [found[1] for found in pages if found and not (ROOT / found[1]).exists()] == []


def test_an_installed_wheel_says_where_the_benchmarks_live(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "bin" / "python"), "-m", "muntin", "bench", "model"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (told.returncode, told.stderr) == (1, f"Error: {MISSING}\n")


def test_an_installed_wheel_runs_the_readme(installed: Path, tmp_path: Path) -> None:
    python = installed / "bin" / "python"
    shown = subprocess.run(
        [python, "-c", "import muntin; print(muntin.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert str(installed) in shown.stdout
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    command = [python, PROGRAM, ROOT / "README.md"]
    for attempt, pause in enumerate((0, *PAUSES)):
        time.sleep(pause)
        (folder := tmp_path / str(attempt)).mkdir()
        told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=alone)
        if TOO_SLOW not in told.stderr:
            break
    assert told.returncode == 0, told.stdout[-2000:] + told.stderr[-4000:]
    assert "streams ran: " in told.stdout
