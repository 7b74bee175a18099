"""Deviations in Spark SQL: count, means and squared deviations, merged without loss of digits."""

from __future__ import annotations

from collections.abc import Callable

from muntin.aggregates import Aggregate, Function, Merge
from muntin.spark.input.parts import Part, Recipe


def moments(aggregate: Aggregate, value: str, *, legacy: bool) -> Recipe:
    """Write a function of count, mean and squared deviations."""
    function = aggregate.function
    part = Part(
        Merge.MOMENTS,
        partials=(_doubled(f"count({value})"), _mean(value), _or_zero(f"var_pop({value}) * count({value})")),
        merge=lambda n, x, xx: _merge_moments({"n": n, "x": x, "xx": xx}),
        lift=(_counted(value), _or_zero(value), _or_zero(_nothing(value))),
    )
    return Recipe(
        aggregate,
        function.over_rows(value),
        (part,),
        _lowered(function, legacy=legacy),
    )


def comoments(aggregate: Aggregate, one: str, other: str, *, legacy: bool) -> Recipe:
    """Write a function of count, means, squared deviations and their products; only pairs without a null count."""
    function = aggregate.function
    x, y = f"CASE WHEN {other} IS NOT NULL THEN {one} END", f"CASE WHEN {one} IS NOT NULL THEN {other} END"
    count = f"count({x})"
    part = Part(
        Merge.COMOMENTS,
        partials=(
            *(_doubled(count), _mean(x), _mean(y)),
            *(_or_zero(f"{deviation} * {count}") for deviation in (f"var_pop({x})", f"var_pop({y})")),
            _or_zero(f"covar_pop({one}, {other}) * {count}"),
        ),
        merge=lambda *names: _merge_moments(dict(zip(("n", "x", "y", "xx", "yy", "xy"), names, strict=True))),
        lift=(_counted(x), *map(_or_zero, (x, y, _nothing(x), _nothing(y), f"{_nothing(x)} + {_nothing(y)}"))),
    )
    return Recipe(
        aggregate,
        function.over_rows(one, other),
        (part,),
        _lowered(function, legacy=legacy),
    )


def _lowered(function: Function, *, legacy: bool) -> Callable[..., str]:
    """Write the result of partials; nothing is known of how a single value of a sample deviates."""
    single = "double('NaN')" if legacy else "NULL"
    return lambda *partials: function.sql_lower.format(
        **dict(zip(function.partials, partials, strict=True)), single=single
    )


def _counted(value: str) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN 1.0D ELSE 0.0D END"


def _or_zero(value: str) -> str:
    return f"coalesce({value}, 0.0D)"


def _doubled(value: str) -> str:
    return f"CAST({value} AS DOUBLE)"


def _nothing(value: str) -> str:
    """Write the deviation of one value: nothing, but NaN of NaN and of infinity, as Spark has it."""
    return f"({value} - {value})"


def _mean(value: str) -> str:
    """Write the mean of a slice.

    Equal values have exactly their own mean; a sum divided by a count may miss it, and nothing is then a deviation. A
    sum of large values would be infinite where their mean is not, so values are scaled by a power of two. That changes
    no digit of values from about 1e-298 on; smaller ones lose digits, down to 1e-314, where nothing is left of them.
    """
    scaled = f"avg({value} * {2.0**-32!r}D) * {2.0**32!r}D"
    return _or_zero(f"CASE WHEN var_pop({value}) = 0 THEN min({value}) ELSE {scaled} END")


def _merge_moments(columns: dict[str, str]) -> tuple[str, ...]:
    """Merge by Chan's formula, one partial after the other: sums of squares would lose digits far from zero.

    A difference of means that is infinite makes squared deviations NaN, as it does in Spark.
    """
    count, weight = "(a.n + b.n)", "(b.n / (a.n + b.n))"

    def difference(name: str) -> str:
        return f"(b.{name} - a.{name})"

    def merged(name: str) -> str:
        if name == "n":
            return count
        if len(name) == 1:
            return f"a.{name} + {difference(name)} * {weight}"
        one, other = map(difference, name)
        infinite = f" + ({one} - {one})" if one == other else ""
        return f"a.{name} + b.{name} + {one} * ({other} * {weight}) * a.n{infinite}"

    zero = ", ".join(f"0.0D AS {name}" for name in columns)
    states = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    both = ", ".join(f"{merged(name)} AS {name}" for name in columns)
    step = f"CASE WHEN b.n = 0 THEN a WHEN a.n = 0 THEN b ELSE struct({both}) END"
    total = f"aggregate(collect_list(struct({states})), struct({zero}), (a, b) -> {step})"
    return tuple(f"{total}.{name}" for name in columns)
