"""A plain install has all that runs: what PySpark asks for without requiring it is required here."""

import ast
import re
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pyspark
import pytest

PYSPARK = Path(pyspark.__file__).parent
STATEFUL = ("sql/streaming/proto/StateMessage_pb2.py", "sql/streaming/stateful_processor_api_client.py")
"""What a stateful processor in Python talks to Spark with."""


def plain_dependencies() -> dict[str, str]:
    """Give the name and the whole text of every requirement that no extra is needed for."""
    texts = [text for text in requires("muntin") or () if "extra ==" not in text]
    return {re.split(r"[^\w.-]", text, maxsplit=1)[0].lower(): text for text in texts}


def imported(file: Path) -> set[str]:
    """Give the modules that a file imports, wherever in it; no relative ones."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return names | {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}


def distributions(module: str) -> set[str]:
    """Give the distributions that a module may be from; `google` is shared by several."""
    if module.startswith("google.protobuf"):
        return {"protobuf"}
    return {name.lower() for name in packages_distributions().get(module.partition(".")[0], ())}


@pytest.mark.parametrize("file", STATEFUL)
def test_what_stateful_processors_import_is_required(file: str) -> None:
    modules = {name for name in imported(PYSPARK / file) if name.partition(".")[0] not in sys.stdlib_module_names}
    assert any(name.startswith(("google.protobuf", "pyspark")) for name in modules)
    known = plain_dependencies()
    missing = {name for name in modules if not distributions(name) & known.keys()}
    assert not missing, f"add what has {missing} to the dependencies"


def test_protobuf_is_no_older_than_the_messages_of_spark() -> None:
    text = (PYSPARK / STATEFUL[0]).read_text(encoding="utf-8")
    version = re.search(r"Domain\.PUBLIC,\s*(\d+),\s*(\d+),\s*(\d+)", text)
    assert version is not None
    required = re.fullmatch(r"protobuf>=(\d+)\.(\d+)\.(\d+)", plain_dependencies()["protobuf"])
    assert required is not None
    assert tuple(map(int, required.groups())) >= tuple(map(int, version.groups()))
