"""Jars that tools fetch are those that were listed when their version was chosen."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import checksums
from tools.checksums import LIST, check_jars, read_sums, write_sums
from tools.kafka.artifacts import CONNECTORS, HERE, connector

POM = "{http://maven.apache.org/POM/4.0.0}"


def test_a_changed_or_unlisted_jar_is_removed_and_named(tmp_path: Path) -> None:
    listed, folder = tmp_path / "jars.sha256", tmp_path / "jars"
    folder.mkdir()
    (folder / "a-1.jar").write_bytes(b"a")
    (folder / "b-2.jar").write_bytes(b"b")
    write_sums(folder, listed)
    assert read_sums(listed) == {
        f"{name}.jar": hashlib.sha256(name[:1].encode()).hexdigest() for name in ("a-1", "b-2")
    }
    check_jars(folder, listed)
    (folder / "a-1.jar").write_bytes(b"another")
    (folder / "c-3.jar").touch()
    with pytest.raises(SystemExit) as error:
        check_jars(folder, listed)
    assert re.fullmatch(
        r"a-1\.jar was removed: its SHA-256 is \w{64}.*\nc-3\.jar was removed.*has None\.", str(error.value)
    )
    assert [path.name for path in folder.iterdir()] == ["b-2.jar"]


def test_without_a_list_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a-1.jar").write_bytes(b"a")
    with pytest.raises(SystemExit, match=r"jars\.sha256 is missing, so no jar can be checked"):
        check_jars(tmp_path, tmp_path / "jars.sha256")
    assert (tmp_path / "a-1.jar").exists()


def test_jars_of_others_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """As tools/flink calls it, with the jars that it has fetched."""
    listed = tmp_path / "jars.sha256"
    (tmp_path / "a-1.jar").write_bytes(b"a")
    write_sums(tmp_path, listed)
    (tmp_path / "b-2.jar").write_bytes(b"b")
    check_jars(tmp_path, listed, ["a-1.jar"])
    with pytest.raises(SystemExit, match=r"c-3\.jar is missing"):
        check_jars(tmp_path, listed, ["c-3.jar"])
    command = [sys.executable, checksums.__file__, str(tmp_path), "b-2.jar"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "b-2.jar was removed" in done.stderr
    assert (tmp_path / "a-1.jar").exists()


MAVEN = """#!/bin/sh
echo "$@" >> "$0.calls"
case "$*" in
  *g:a:1*) echo planted > "$(echo "$*" | sed 's/.*-DoutputDirectory=//')/a-1.jar" ;;
  *) exit 1 ;;
esac
"""


@pytest.mark.parametrize("maven", [MAVEN, None])
def test_jars_are_checked_also_where_another_cannot_be_had(tmp_path: Path, maven: str | None) -> None:
    """The first of two artifacts is another than the list has, and the second is nowhere; or there is no Maven."""
    folder, tools = tmp_path / "jars", tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    for name in ("sh", "cut", "mkdir", "rm", "tee", "dirname", "sed", "python3"):
        (tools / name).symlink_to(sys.executable if name == "python3" else str(shutil.which(name)))
    if maven is None:
        (folder / "a-1.jar").write_text("planted")
    else:
        (tools / "mvn").write_text(maven)
        (tools / "mvn").chmod(0o755)
    done = subprocess.run(
        [str(LIST.with_name("jars")), str(folder), "g:a:1", "g:b:2"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a-1.jar was removed" in done.stderr
    assert done.returncode == 1
    assert [path.name for path in folder.iterdir()] == ["missing"]


def test_a_plugin_of_maven_has_a_version() -> None:
    named = [path for path in LIST.parent.rglob("*") if path.is_file() and path.suffix not in (".sha256", ".pyc")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in named}
    assert {name for name, text in texts.items() if re.search(r"\bdependency:[a-z]", text)} == set()
    assert {"jars", "flink", "artifacts.py"} <= {
        name for name, text in texts.items() if re.search(r"maven-dependency-plugin:\d", text)
    }


def broker_artifacts() -> list[str]:
    """Return what tools/kafka/broker.xml names; what that needs is checked when it is fetched."""
    dependencies = ElementTree.parse(HERE / "broker.xml").iter(f"{POM}dependency")  # noqa: S314 - our own
    parts = ("groupId", "artifactId", "version")
    return [":".join(dependency.findtext(POM + part, "") for part in parts) for dependency in dependencies]


def test_all_jars_that_tools_fetch_are_listed() -> None:
    artifacts = [artifact for spark in CONNECTORS for artifact in connector(spark)] + broker_artifacts()
    assert "org.apache.kafka:kafka_2.13:4.1.0" in artifacts
    for name in ("lakehouse.mk", "flink"):
        text = LIST.with_name(name).read_text(encoding="utf-8")
        for variable, value in re.findall(r"^(\w+)(?: :)?=\s*(\S+)$", text, re.MULTILINE):
            text = text.replace(f"$({variable})", value).replace(f"${variable}", value)
        artifacts += re.findall(r"^(?:\w+ := )?\s*((?:[\w.]+:[\w.-]+:[\w.-]+[ \\\n]*)+)", text, re.MULTILINE)
    jars = ["{1}-{2}.jar".format(*artifact.split(":")) for artifact in " ".join(artifacts).replace("\\", "").split()]
    assert len(jars) > 20
    assert not set(jars) - read_sums(LIST).keys()


def test_the_page_on_kafka_names_the_jars_that_are_tested() -> None:
    page = (LIST.parents[1] / "docs/kafka.md").read_text(encoding="utf-8")
    connectors = re.findall(r"^\| (\d\.\d+) \| ([\d.]+)", page, re.MULTILINE)
    assert dict(connectors) == CONNECTORS
    assert tuple(re.findall(r"^  ([\w.]+:[\w.-]+:[\d.]+)", page, re.MULTILINE)) == connector(max(CONNECTORS))
