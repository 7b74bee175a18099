"""Which statements can be evaluated together: those over one input, once what they read is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from muntin.sqltext import place_of_name
from muntin.sqltext.statement import Boundaries, Input, Select, Statement


@dataclass(frozen=True)
class Together:
    """SELECTs over one input, by names of their own."""

    input: Input
    boundaries: Boundaries
    selects: Mapping[str, Select]
    statements: tuple[Statement, ...]
    """Those that the SELECTs are of, each once."""


def stages(statements: Sequence[Statement], given: Iterable[str]) -> Iterator[list[Statement]]:
    """Yield statements in stages: one that names an earlier one comes after it, as if that were a table.

    >>> hourly = Statement("hourly", "spark", "", spark="SELECT 1")
    >>> top = Statement("top", "spark", "", spark="SELECT * FROM hourly")
    >>> [[it.name for it in stage] for stage in stages([hourly, top], [])]
    [['hourly'], ['top']]
    """
    tables = {name.lower() for name in given}
    depth: dict[str, int] = {}
    for statement in statements:
        earlier = (name for name in depth if name.lower() not in tables and _reads(statement, name))
        depth[statement.name] = 1 + max((depth[name] for name in earlier), default=-1)
    for number in range(1 + max(depth.values(), default=-1)):
        yield [statement for statement in statements if depth[statement.name] == number]


def _reads(statement: Statement, name: str) -> bool:
    if not statement.selects:
        return place_of_name(statement.spark or "", name, "spark") is not None
    return any(name.lower() == table.lower() for select in statement.selects for table in select.input.tables)


def together(statements: Iterable[Statement]) -> list[Together]:
    """Put SELECTs over equal inputs together, whichever statements they are of."""
    groups: dict[tuple[Input, Boundaries], dict[str, Select]] = {}
    owners: dict[tuple[Input, Boundaries], list[Statement]] = {}
    for statement in statements:
        for name, select in named_selects(statement).items():
            place = (select.input, select.boundaries)
            groups.setdefault(place, {})[name] = select
            if statement not in owners.setdefault(place, []):
                owners[place].append(statement)
    return [Together(*place, selects, tuple(owners[place])) for place, selects in groups.items()]


def named_selects(statement: Statement) -> dict[str, Select]:
    """Give the SELECTs of a statement by its name, and by numbers where there are several."""
    if len(statement.selects) == 1:
        return {statement.name: statement.selects[0]}
    return {f"{statement.name}, part {place}": select for place, select in enumerate(statement.selects, start=1)}
