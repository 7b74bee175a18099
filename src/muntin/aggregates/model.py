"""Aggregates as lift, combine and lower, with the properties that decide how they may be shared.

An aggregate lifts rows to partials, combines partials in any grouping, and lowers the last partial to the result.
A partial is a tuple of columns; its merge says how two such tuples become one. Planning and execution ask for
properties and merges, never for a function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from muntin.errors import QueryError
from muntin.expressions import Expression, column_named

Partial = tuple[Any, ...]


class Merge(Enum):
    """How two partials become one; the columns of a partial are merged together."""

    SUM = "every column is added"
    MIN = "the lesser value, NaN being the greatest"
    MAX = "the greater value, NaN being the greatest"
    AND = "both"
    OR = "either"
    EARLIER = "the partial whose first column, the order, is less, or the last of equal ones"
    LATER = "the partial whose first column, the order, is greater, or the last of equal ones"
    MOMENTS = "count, mean and sum of squared deviations, merged without loss of digits"
    COMOMENTS = "count, two means, two sums of squared deviations and one of their products"
    UNION = "the union of two sets"
    DISTINCT_SKETCH = "the union of two HyperLogLog sketches"
    QUANTILE_SKETCH = "the union of two KLL sketches, in which rows count as often as they come"
    CUSTOM = "a user's function"
    NONE = "not possible: the rows themselves are needed"

    @property
    def selective(self) -> bool:
        """Whether merging gives one of the two partials, so that one that is merged twice does no harm."""
        return self in (Merge.MIN, Merge.MAX, Merge.AND, Merge.OR, Merge.EARLIER, Merge.LATER)

    @property
    def overlap_safe(self) -> bool:
        """Whether partials that have rows in common may be merged."""
        return self.selective or self in (Merge.UNION, Merge.DISTINCT_SKETCH)

    @property
    def bounded(self) -> bool:
        """Whether a partial has the same size however many rows it stands for."""
        return self not in (Merge.UNION, Merge.NONE)


class Reading(Enum):
    """What is read from the rows of a range where partials cannot be merged, or grow with the rows."""

    RANK = "the value at a fraction of all sorted ones, one half unless an option says which"
    FREQUENCY = "the most frequent value"
    MEMBERS = "the number of distinct values"


class Repetition(Enum):
    """What becomes of a result where every row comes equally often, as each row of one side does in a join."""

    SAME = "it stays the same"
    TIMES = "it is as many times the result"
    OTHER = "it is another: the rows are needed"


@dataclass(frozen=True, slots=True)
class Function:
    """What an aggregate computes, whatever column it is asked of."""

    name: str
    merge: Merge
    partials: tuple[str, ...]
    """Names of the partial columns."""
    lift: Callable[..., Partial | None]
    """Make a partial of one row's values; None where the row does not count."""
    combine: Callable[[Partial, Partial], Partial]
    """Merge two partials, the earlier one first."""
    lower: Callable[..., Any]
    """Make the result of the last partial and the aggregate's options; None stands for no rows that count."""
    inputs: tuple[int, ...] = (1,)
    """The numbers of columns that it may be given."""
    idempotent: bool = False
    """Whether it is declared that rows may count twice without harm; what its merge says goes without declaring."""
    takes_time: bool = False
    """The event time is lifted too, before the column (first, last)."""
    reading: Reading | None = None
    """What kernels read from the rows of a range, where that is how they evaluate it."""
    conditional: bool = False
    """Whether a row counts where its column is true, not where it has a value (count_if)."""
    sql: str = ""
    """How Spark SQL writes it over rows: columns by their places, options by their names; else its name and columns."""
    sql_lower: str = ""
    """The result in Spark SQL of partials by their names, {single} being the deviation of a single value."""

    @property
    def mergeable(self) -> bool:
        """Whether partials can be combined at all."""
        return self.merge is not Merge.NONE

    @property
    def overlap_safe(self) -> bool:
        """Whether partials that have rows in common may be combined: windows may then read any that they contain."""
        return self.idempotent or self.merge.overlap_safe

    @property
    def repetition(self) -> Repetition:
        """What becomes of the result where every row comes equally often; sketches have it within their error.

        >>> from muntin.aggregates.functions import AVG, SUM, VARIANCE
        >>> AVG.repetition.name, SUM.repetition.name, VARIANCE.repetition.name
        ('SAME', 'TIMES', 'OTHER')
        """
        if self.merge is Merge.SUM:
            return Repetition.TIMES if len(self.partials) == 1 else Repetition.SAME
        same = self.overlap_safe or self.merge is Merge.QUANTILE_SKETCH
        return Repetition.SAME if same else Repetition.OTHER

    @property
    def counts(self) -> bool:
        """Whether the result over no rows is 0, and not null."""
        return self.partials == ("count",) or self.merge in (Merge.UNION, Merge.DISTINCT_SKETCH)

    def over_rows(self, *columns: str, **options: Any) -> str:
        """Write the function in Spark SQL.

        >>> from muntin.aggregates.functions import CORR, PERCENTILE
        >>> CORR.over_rows("x", "y"), PERCENTILE.over_rows("x", fraction=0.5)
        ('corr(x, y)', 'percentile(x, 0.5D)')
        """
        return self.sql.format(*columns, **options) if self.sql else f"{self.name}({', '.join(columns)})"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate function over some columns, with an output name; mt.avg and the others return it.

    Args:
        function: The function to compute.
        columns: Names of columns, or expressions of Spark.
        name: The name of the result; by default function and columns.
        options: Further arguments of the function, such as the fraction of a percentile.

    >>> from muntin.aggregates.functions import avg
    >>> avg("temperature")
    avg(temperature)
    >>> avg("temperature").alias("mean").name
    'mean'
    """

    function: Function
    columns: tuple[str | Expression, ...] = ()
    """Names of columns, or expressions of Spark."""
    name: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.function, Function):
            raise QueryError(f"{self.function!r} is not an aggregate function. Use one such as mt.min('v').")
        if len(self.columns) not in self.function.inputs:
            takes = " or ".join(map(str, self.function.inputs))
            raise QueryError(f"{self.function.name} takes {takes} columns, not {len(self.columns)}: {self.columns!r}.")
        columns = tuple(column_named(given, self.function.name) for given in self.columns)
        object.__setattr__(self, "columns", columns)
        if not self.name:
            object.__setattr__(self, "name", "_".join([self.function.name, *map(str, self.columns)]))

    def alias(self, name: str) -> Aggregate:
        """Return the same aggregate under another output name."""
        if not isinstance(name, str) or not name:
            raise QueryError(f"alias {name!r} is not an output name. Use a non-empty string.")
        return replace(self, name=name)

    def __repr__(self) -> str:
        arguments = [*map(str, self.columns), *(f"{name}={value}" for name, value in self.options)]
        return f"{self.function.name}({', '.join(arguments)})"

    def evaluate(self, rows: Iterable[tuple[Any, ...]]) -> Any:
        """Evaluate over rows in plain Python, by lift, combine and lower: the definition that tests compare with.

        >>> from muntin.aggregates.functions import avg
        >>> avg("v").evaluate([(1,), (2,), (None,), (6,)])
        3.0
        """
        total: Partial | None = None
        for row in rows:
            partial = self.function.lift(*row)
            if partial is not None:
                total = partial if total is None else self.function.combine(total, partial)
        return self.function.lower(total, **dict(self.options))
