"""Rows on a terminal."""

from __future__ import annotations

from datetime import datetime
from io import StringIO

import pytest
from rich.console import Console

from muntin.cli.terminal import Rows, show

NINE, TEN = datetime(2024, 5, 1, 9), datetime(2024, 5, 1, 10)


def printed(rows: Rows, width: int, title: str = "") -> list[str]:
    console = Console(file=StringIO(), width=width)
    show(console, rows, title)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_values_are_written_as_people_write_them() -> None:
    rows = Rows(
        ("device", "window", "mean", "n"),
        (
            ["a", None],
            [{"start": NINE, "end": TEN}, {"start": NINE, "end": datetime(2024, 5, 2)}],
            [1.25, 1e-9],
            [3, 40],
        ),
        more=True,
    )
    assert printed(rows, 80, "low") == [
        "low",
        "┏━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━┳━━━━┓",
        "┃ device ┃ window                              ┃  mean ┃  n ┃",
        "┡━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━╇━━━━┩",
        "│ a      │ 2024-05-01 09:00 – 10:00            │  1.25 │  3 │",
        "│ NULL   │ 2024-05-01 09:00 – 2024-05-02 00:00 │ 1e-09 │ 40 │",
        "└────────┴─────────────────────────────────────┴───────┴────┘",
        "… and more than these 2 rows",
    ]


def test_a_title_may_be_wider_than_its_table() -> None:
    assert printed(Rows(("n",), ([1],)), 80, "all windows that end at nine")[0] == "all windows that end at nine"


@pytest.mark.parametrize("width", [30, 80, 120])
def test_tables_are_no_wider_than_the_terminal(width: int) -> None:
    names = tuple(f"column_{number}" for number in range(30))
    lines = printed(Rows(names, tuple(["x" * number] for number in range(30))), width)
    assert max(map(len, lines)) <= width
    assert "column_29" in " ".join(lines)


def test_texts_cannot_change_the_terminal() -> None:
    rows = Rows(("a\x1b[2J",), (["\x1b[31mred\n[bold]not bold[/]"],))
    text = "\n".join(printed(rows, 80, "[red]title"))
    assert "\x1b" not in text
    assert r"\x1b[31mred\n[bold]not bold[/]" in text
    assert "[red]title" in text


def test_a_result_without_rows_has_its_columns() -> None:
    assert "device" in "\n".join(printed(Rows(("device", "n"), ([], [])), 80))
