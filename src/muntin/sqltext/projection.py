"""What a SELECT over windows gives: expressions over the window, keys and results of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from muntin.sqltext.calls import called, hint, innermost, is_aggregate, read_call
from muntin.sqltext.grouping import Grouped
from muntin.sqltext.pointing import Refused, refuse, unsupported
from muntin.sqltext.spelling import folded, named, sizes, spark_sql, within
from muntin.sqltext.statement import KEY, RESULT, Call, Dialect

MOST_REPEATED = 20_000
"""How many parts of expressions are written again for the names that stand for them, in one SELECT."""
NEITHER = "is neither a key of GROUP BY nor in an aggregate"


@dataclass(slots=True)
class Projection:
    """Keys and aggregates as they come up, each once."""

    grouped: Grouped
    dialect: Dialect
    before: Callable[[exp.Expr], exp.Expr]
    """What expressions over rows become before they are written."""
    keys: dict[str, int] = field(default_factory=dict)
    calls: dict[Call, int] = field(default_factory=dict)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    """What was selected before, by its name, over window, keys and results."""
    _folded: dict[exp.Expr, str] = field(default_factory=dict)
    _sizes: set[int] = field(default_factory=set)
    """How many nodes the keys have; whatever has another number is none of them."""
    _repeated: int = 0

    def __post_init__(self) -> None:
        for key in self.grouped.keys:
            if isinstance(key, exp.Literal | exp.Star):
                refuse(key, "GROUP BY takes columns and expressions over them.", "it groups by a constant")
            if aggregate := self._aggregate_in(key):
                refuse(
                    aggregate,
                    "GROUP BY has an aggregate. It takes columns and expressions over them.",
                    "it groups by an aggregate",
                )
            self.check_plain(key)
            text = spark_sql(self.before(key))
            self._sizes.add(sizes(key)[id(key)])
            self._folded[folded(key)] = KEY.format(self.keys.setdefault(text, len(self.keys)))

    def over(self, node: exp.Expr, names: Mapping[str, exp.Expr] | None = None) -> exp.Expr:
        """Write an expression over window, keys and results; names stand for what they were given to."""
        kinds = {type(key) for key in self._folded} | {exp.Paren}
        node = node.copy()
        size = sizes(node)

        def change(part: exp.Expr) -> exp.Expr:
            if type(part) in kinds and size[id(part)] in self._sizes and (key := self._folded.get(folded(part))):
                return named(key)
            if (reference := self.grouped.reference(part)) is not None:
                return reference
            if is_aggregate(part, self.dialect):
                return named(RESULT.format(self._number(part)))
            if isinstance(part, exp.Column):
                return self._named(part, node, names or {})
            if isinstance(part, exp.Window):
                unsupported(
                    part,
                    "OVER is not supported over windows here. Use mt.rolling in Python.",
                    "it has a frame with OVER",
                )
            if isinstance(part, exp.Star):
                refuse(part, "* is not known here: name keys, aggregates and the window.", "it selects *")
            return part

        return node.transform(change, copy=False)

    def _number(self, part: exp.Expr) -> int:
        """Give the number of a call of an aggregate."""
        whole = innermost(part)
        for node in part.find_all(exp.Anonymous):
            if node is not whole and is_aggregate(node, self.dialect):
                refuse(node, "an aggregate stands within another.", "an aggregate stands within another")
        self.check_plain(part)
        call = read_call(self.before(part), self.dialect)
        return self.calls.setdefault(call, len(self.calls))

    def _aggregate_in(self, node: exp.Expr) -> exp.Expr | None:
        return next((part for part in node.find_all(exp.Anonymous) if is_aggregate(part, self.dialect)), None)

    def check_plain(self, node: exp.Expr) -> None:
        """Refuse the window where rows are meant; in Azure the system's time is the event time there."""
        if self.dialect != "azure":
            for part in node.walk():
                if self.grouped.reference(part) is not None:
                    refuse(
                        part,
                        "the window stands where a row is meant.",
                        "it uses the window within a key or an aggregate",
                    )

    def _repeat(self, column: exp.Column, known: exp.Expr) -> None:
        """Refuse names of names of names: every one of them may double what is written."""
        self._repeated += sizes(known)[id(known)]
        if self._repeated > MOST_REPEATED:
            unsupported(
                column,
                f"the expression that {column.name!r} stands for is repeated too often. Select it in a WITH step.",
                f"the expression that {column.name!r} stands for is repeated too often",
            )

    def is_other_key(self, column: exp.Expr, alias: exp.Expr) -> bool:
        """Tell whether a column is a key, and its name stands for something else."""
        key = self._folded.get(folded(column))
        return key is not None and alias != named(key)

    def _named(self, column: exp.Column, top: exp.Expr, names: Mapping[str, exp.Expr]) -> exp.Expr:
        if not column.table and (known := names.get(column.name.casefold())) is not None:
            self._repeat(column, known)
            return known.copy() if column.parent is None else within(known.copy())
        written = ".".join(part.name for part in column.parts)
        above = column.parent
        while above is not None and above is not top.parent:
            if (function := called(above)) and (near := hint(function, self.dialect)):
                reason = f"{function} is not an aggregate that is known here"
                refuse(above, f"{function!r} is not an aggregate that is known here.{near}", reason)
            above = above.parent
        raise Refused(column, f"{written!r} {NEITHER}.", f"{written!r} {NEITHER}")
