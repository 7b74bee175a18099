"""What can be seen of the documents without Spark: what their blocks are, and where their links lead."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import muntin as mt
from muntin.spark.batch.ceiling import MOST_RESULT_ROWS, RESULT_ROWS
from muntin.spark.batch.independent import MOST_PLAIN
from muntin.spark.input.checking import INSTANCES
from muntin.window import MOST_INSTANCES
from tests.documents import ELSEWHERE, GENERATED, LANGUAGES, ROOT, RUN, Block, blocks, pages
from tools.kafka.artifacts import connector

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
DOCUMENTS = [*pages(), GENERATED, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_has_a_language(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        assert block.language in LANGUAGES, f"line {block.line}: use one of {LANGUAGES}"
        assert block.reason is None or block.language in RUN, f"line {block.line}: only code is run"
        compared = block.language == "python" or page in ELSEWHERE
        assert block.output is None or compared, f"line {block.line}: nobody compares what a shell prints here"


@pytest.mark.parametrize(
    ("page", "block"),
    [(page, block) for page in pages() for block in blocks(page.read_text(encoding="utf-8")) if block.reason],
    ids=lambda value: value.name if isinstance(value, Path) else f"line {value.line}",
)
def test_code_that_is_not_run_says_why(page: Path, block: Block) -> None:
    """List such code: pytest -rs shows it."""
    assert block.reason
    assert len(block.reason.split()) > 2, f"{page.name}, line {block.line}: say why it cannot run"
    pytest.skip(f"{page.name}, line {block.line}: not run: {block.reason}")


def anchors(page: Path) -> set[str]:
    """Give what GitHub and the site call the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for path, anchor in LINK.findall(text):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path}#{anchor}"


def test_the_api_pages_have_every_public_name() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/api").glob("*.md"))
    assert sorted(re.findall(r"^::: muntin\.(\w+)$", text, re.MULTILINE)) == sorted(set(mt.__all__) - {"__version__"})


def test_the_walk_through_names_the_jars_that_are_tested() -> None:
    rules = (ROOT / "tools/lakehouse.mk").read_text(encoding="utf-8").replace("\\\n", "")
    variables = dict(re.findall(r"^(\w+) := (.*)$", rules, re.MULTILINE))
    delta = variables["DELTA_JARS"].replace("$(DELTA)", variables["DELTA"]).split()
    page = (ROOT / "docs/walkthrough.md").read_text(encoding="utf-8")
    (fetch,) = (block.code for block in blocks(page) if "mvn " in block.code)
    command = ["bash", "-euc", f'mvn() {{ printf "%s\\n" "$@"; }}\n{fetch}']
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    fetched = re.findall(r"^-Dartifact=(.*)$", said, re.MULTILINE)
    assert fetched == [*connector(variables["DELTA_SPARK"]), *delta]
    assert f"`{fetched[0]},{delta[0]}`" in page


def test_the_page_on_security_has_the_limits_that_the_code_has() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    assert f"| instances that a row lies in | {MOST_INSTANCES:,} | `{INSTANCES}`;" in page
    assert MOST_RESULT_ROWS == 10**12
    assert f"| 10¹² | `{RESULT_ROWS}`," in page
    assert f"| {MOST_PLAIN:,} | another strategy" in page
