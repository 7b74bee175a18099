"""What is asked is checked against the input before any job starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.errors import QueryError
from muntin.expressions import Expression
from muntin.query import repeated
from muntin.sentences import sentence_of
from muntin.spark.input.time_column import conversion
from muntin.window import MOST_INSTANCES, AnyWindow, check_instances

INSTANCES = "spark.muntin.mostInstances"
"""The setting of a session that allows windows more instances."""
ATOMS = (T.NumericType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType, T.BinaryType)
"""Types, beside texts, of values that have no parts: Spark and Arrow compare them alike."""


def expression(df: DataFrame, given: Any, role: str) -> Expression:
    """Give a name or a Spark column as an expression with Spark's own name for it."""
    if isinstance(given, str) and given:
        return Expression(given, given)
    if isinstance(given, Column):
        try:
            return Expression(given, df.select(given).columns[0])
        except AnalysisException as error:
            raise QueryError(f"{role} {given} cannot be read: {sentence_of(error)}") from error
    raise QueryError(f"{role} has {given!r}, which is not a column. Use the name of a column, or a Column.")


def column_of(given: str | Expression) -> str | Column:
    """Give what DataFrame.select takes for a column; a name alone takes fewer calls into Spark than a column."""
    value: str | Column = given.value if isinstance(given, Expression) else given
    return quoted(value) if isinstance(value, str) else value


def check_names(df: DataFrame, keys: Iterable[Expression], aggregates: Iterable[Aggregate]) -> None:
    """Refuse names that the input does not have; Spark compares them by its own setting of case."""
    asked = [key.value for key in keys] + [column for aggregate in aggregates for column in aggregate.columns]
    fold = folding(df)
    known = {fold(name) for name in df.columns}
    missing = [name for name in dict.fromkeys(one for one in asked if isinstance(one, str)) if fold(name) not in known]
    if missing:
        columns = ", ".join(map(repr, df.columns)) or "none"
        field = next((name for name in missing if fold(name.partition(".")[0]) in known), None)
        hint = "" if field is None else f" Use F.col({field!r}) for a field within a column."
        raise QueryError(f"no column {', '.join(map(repr, missing))} in the input. Its columns are {columns}.{hint}")


def folding(df: DataFrame) -> Callable[[str], str]:
    """Give what makes names the same that Spark takes for the same: it lowers their case, and folds nothing else."""
    return str if is_set(df, "spark.sql.caseSensitive", "false") else str.lower


def alike(given: Iterable[str], fold: Callable[[str], str]) -> str | None:
    """Write the first names that are the same once folded, as the user spelled them; None if all differ."""
    spelled = list(given)
    twice = repeated(map(fold, spelled))
    spellings = dict.fromkeys(repr(name) for name in spelled if fold(name) == twice)
    return None if twice is None else " and ".join(spellings)


def is_set(df: DataFrame, name: str, default: str) -> bool:
    """Tell whether a setting of a DataFrame's session is true, in whatever case it was written."""
    return str(df.sparkSession.conf.get(name, default)).casefold() == "true"


def check_ceiling(spark: SparkSession, windows: Iterable[AnyWindow]) -> None:
    """Refuse windows that put a row into more instances than the session allows."""
    check_instances(windows, setting(spark, INSTANCES, MOST_INSTANCES), f"spark.conf.set({INSTANCES!r}, …)")


def setting(spark: SparkSession, name: str, default: int) -> int:
    """Return a number that a session sets."""
    given = spark.conf.get(name, str(default)) or ""
    if not given.isdecimal():
        raise QueryError(f"{name} is {given!r} in this session. Set it to a whole number, such as {default}.")
    return int(given)


def check_time(df: DataFrame, time: Expression, given: T.DataType) -> bool:
    """Tell whether the time is an instant; refuse what is no timestamp."""
    if isinstance(given, T.TimestampType | T.TimestampNTZType):
        return isinstance(given, T.TimestampType)
    candidates = [repr(f.name) for f in df.schema if isinstance(f.dataType, T.TimestampType | T.TimestampNTZType)]
    choices = [f"Timestamp columns are {', '.join(candidates)}."] if candidates else []
    advice = " ".join([*choices, *conversion(df.select(column_of(time)), time)])
    raise QueryError(f"time column {time.name!r} is of type {given.simpleString()}, not a timestamp. {advice}")


def check_expressions(
    df: DataFrame, grouping: list[Expression], values: list[str | Expression], *, aggregated: bool
) -> bool:
    """Tell whether all expressions are deterministic; refuse those that give several rows or stand where they cannot.

    Spark groups by what is not deterministic and takes it over rolling windows, but not within an aggregate. It is
    asked once for all expressions, and one by one only if it refuses: every question takes time.
    """
    given = [one for one in (*grouping, *values) if isinstance(one, Expression) and not isinstance(one.value, str)]
    try:
        if given:
            _ = df.select(*(F.any_value(column_of(one)) for one in given)).schema
        return True
    except AnalysisException:
        for one in given:
            _check_alone(df, one, aggregated=aggregated and one not in grouping)
        return False


def _check_alone(df: DataFrame, given: Expression, *, aggregated: bool) -> None:
    try:
        if _is_deterministic(df, given):
            return
        _ = df.select(F.struct(column_of(given))).schema
    except AnalysisException as error:
        raise QueryError(f"column {given.name!r} cannot be read: {sentence_of(error)}") from error
    if aggregated:
        raise QueryError(
            f"value {given.name!r} is not deterministic, and Spark aggregates no such value. "
            "Add it to the input first, as in df.withColumn('value', …), and use that column."
        )


def _is_deterministic(df: DataFrame, given: Expression) -> bool:
    """Tell whether an expression gives the same for the same row; an error if it cannot stand within an aggregate."""
    try:
        _ = df.groupBy().agg(F.any_value(column_of(given))).schema
    except AnalysisException as error:
        if error.getCondition() == "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION":
            return False
        raise
    return True


def check_keys(frame: DataFrame, by: Iterable[str], types: Iterable[T.DataType]) -> None:
    """Refuse types that Spark cannot group by; it is asked of those that have parts."""
    for i, (name, given) in enumerate(zip(by, types, strict=True)):
        if isinstance(given, (*ATOMS, T.StringType)):
            continue
        try:
            _ = frame.groupBy(names.key(i)).count().schema
        except AnalysisException as error:
            raise QueryError(
                f"key {name!r} is of type {given.simpleString()}, which Spark cannot group by. Use another column."
            ) from error


def quoted(name: str) -> str:
    """Quote a column's name, whatever characters it has.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"
