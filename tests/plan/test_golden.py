"""Plans as text, one file each: how it was asked for, then what is printed. `pytest --golden` writes them anew."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from muntin.cli import main

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_prints_as_before(path: Path, pytestconfig: pytest.Config) -> None:
    title, command, expected = path.read_text(encoding="utf-8").split("\n", 2)
    arguments = command.removeprefix("muntin ").split("'")
    split = [word for index, part in enumerate(arguments) for word in ([part] if index % 2 else part.split())]
    result = CliRunner().invoke(main, split)
    if pytestconfig.getoption("golden"):
        path.write_text(f"{title}\n{command}\n{result.output}", encoding="utf-8")
    else:
        assert result.output == expected


def test_there_are_golden_plans() -> None:
    assert len(FILES) >= 10
