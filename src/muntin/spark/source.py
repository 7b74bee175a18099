"""The input of a query under safe names, with everything checked before any job starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import count
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate, Expression
from muntin.errors import QueryError
from muntin.query import Query
from muntin.spark.recipes import Recipe, recipe
from muntin.window import Window

LONGEST_WINDOW = 10_000 * 366 * 86_400_000_000
"""Ten thousand years: what Spark's timestamps span, and short enough that no sum of two leaves 64 bits."""

DELAY = "spark.watermarkDelayMs"
"""The metadata by which Spark knows a column that the watermark belongs to."""
WINDOW = "spark.timeWindow"
"""The metadata by which Spark knows a window."""


@dataclass(frozen=True)
class Events:
    """Checked input: columns ts, t (microseconds), k0, k1, … for keys and v0, v1, … for values."""

    by: tuple[str, ...]
    """The names of the keys."""
    frame: DataFrame
    key_types: tuple[T.DataType, ...]
    zoned: bool
    """Whether times are instants (TIMESTAMP) and not wall-clock times (TIMESTAMP_NTZ)."""
    recipes: tuple[Recipe, ...]
    results: tuple[T.StructField, ...]
    """Type and nullability of every aggregate as Spark alone gives it."""
    carried: tuple[tuple[str, str], ...]
    """Safe names of columns of the input (c0, …) that are also keys or values, and the safe names of those."""

    @property
    def keys(self) -> list[str]:
        """The safe names of the keys."""
        return [f"k{i}" for i in range(len(self.key_types))]

    @property
    def partials(self) -> list[list[str]]:
        """The safe names of every aggregate's partial columns."""
        numbers = count()
        return [[f"p{next(numbers)}" for _ in made.partials] for made in self.recipes]

    @property
    def rows(self) -> DataFrame:
        """The rows that have an event time."""
        return self.frame.where(F.col("t").isNotNull())

    @property
    def plain(self) -> list[Column]:
        """The results of aggregates over rows."""
        return [F.col(f"a{i}") for i in range(len(self.recipes))]

    @cached_property
    def lifted(self) -> DataFrame:
        """Every row as a partial of itself: t, the keys and the partials."""
        return self.lift(self.rows)

    def lift(self, frame: DataFrame, *others: str) -> DataFrame:
        """Give rows as partials of themselves, with other columns that they have; what is shared only once."""
        partials = [column.alias(name) for name, column in self._lifts.items() if name not in self.shared]
        rest = [name for name in others if name not in self.shared]
        return frame.select("t", *map(_one_of_equals, self.keys, self.key_types), *partials, *rest)

    @cached_property
    def shared(self) -> dict[str, str]:
        """Columns that are the same as an earlier one, which stands for them until the rows are in Python."""
        first = {str(F.col(key)): key for key, found in zip(self.keys, self.key_types, strict=True) if _is_exact(found)}
        found = {}
        columns = self._lifts | {name: F.col(same) for name, same in self.carried}
        for name, column in columns.items():
            earlier = first.setdefault(str(column), name)
            if earlier != name:
                found[name] = earlier
        return found

    @cached_property
    def _lifts(self) -> dict[str, Column]:
        """The partials of one row."""
        groups = zip(self.partials, self.recipes, strict=True)
        return {
            name: column for names, made in groups for name, column in zip(names, made.lift, strict=bool(made.lift))
        }

    @cached_property
    def lifted_schema(self) -> T.StructType:
        """The types of keys and partials."""
        found = self.lifted.schema
        partials = [T.StructField(name, found[self.shared.get(name, name)].dataType) for name in self._lifts]
        return T.StructType([*(found[name] for name in ("t", *self.keys)), *partials])

    def lowered(self, prefix: str = "") -> list[Column]:
        """Give the results of the partial columns, whose names may have something before them."""
        return [
            r.lower([F.col(prefix + name) for name in names])
            for r, names in zip(self.recipes, self.partials, strict=True)
            if r.lower is not None
        ]


@dataclass(frozen=True)
class Source(Events):
    """The input of a query over windows."""

    query: Query

    def moment(self, micros: Column) -> Column:
        """Turn microseconds into a timestamp of the input's own kind."""
        if self.zoned:
            return F.timestamp_micros(micros)
        return F.expr("timestamp_ntz'1970-01-01 00:00:00'") + F.make_dt_interval(
            secs=(micros.cast(T.DecimalType(24, 0)) / 1_000_000).cast(T.DecimalType(18, 6))
        )

    def micros(self, time: Column) -> Column:
        """Turn a timestamp of the input's own kind into microseconds."""
        return _micros(time, zoned=self.zoned)

    def finish(self, frame: DataFrame, aggregates: Iterable[Column]) -> DataFrame:
        """Give the long layout of rows with columns w (number of the window), s (its start) and the keys."""
        windows = self.query.windows
        label, range = _chosen(literal(w.label) for w in windows), _chosen(f"{w.range:d}L" for w in windows)
        return self.finish_with(frame, aggregates, label, range)

    def finish_with(self, frame: DataFrame, aggregates: Iterable[Column], label: Column, range: Column) -> DataFrame:
        """Give the long layout of rows that tell the label and the range of their window themselves."""
        return self.named(frame, aggregates, label, self.instance(F.col("s"), F.col("s") + range, "window"))

    def instance(self, start: Column, end: Column, name: str) -> Column:
        """Give a stretch of time with the metadata of Spark's own windows: that it is one, and what the time has.

        Without the former, F.window_time and F.window would not take it; without the watermark's, nothing on a stream
        that is grouped by it would ever be closed.
        """
        struct = F.struct(self.moment(start).alias("start"), self.moment(end).alias("end"))
        return struct.alias(name, metadata=self.frame.schema["ts"].metadata | {WINDOW: True})

    def named(self, frame: DataFrame, aggregates: Iterable[Column], label: Column, window: Column) -> DataFrame:
        """Give the long layout: the window's id, the window, keys and aggregates under their own names."""
        return frame.select(
            F.coalesce(label, F.lit("")).alias("window_id"),
            window,
            *map(self._named_key, self.keys, self.query.by),
            *(
                column.cast(field.dataType).alias(field.name)
                for column, field in zip(aggregates, self.results, strict=True)
            ),
        )

    def _named_key(self, key: str, name: str) -> Column:
        """Give a key its name again, and the metadata that it has in the input: the way through Python loses it."""
        metadata = self.frame.schema[key].metadata
        return F.col(key).alias(name, metadata=metadata) if metadata else F.col(key).alias(name)


def _chosen(literals: Iterable[str]) -> Column:
    """Give the literal whose place is the number of the window; as one text, since every call into Spark takes time."""
    return F.expr(f"element_at(array({', '.join(literals)}), w + 1)")


def literal(text: str) -> str:
    """Write a text as a literal of Spark SQL, whatever characters it has."""
    return f"decode(unhex('{text.encode().hex()}'), 'utf-8')"


def _one_of_equals(name: str, found: T.DataType) -> Column:
    """Make equal floats the same bits, as grouping does: one zero, one NaN."""
    column = F.col(name)
    if _is_exact(found):
        return column
    one_nan = F.when(F.isnan(column), F.lit(float("nan")).cast(found)).otherwise(column)
    return F.when(column == 0, F.lit(0.0).cast(found)).otherwise(one_nan).alias(name)


def _is_exact(found: T.DataType) -> bool:
    return not isinstance(found, T.FloatType | T.DoubleType)


def quoted(name: str) -> str:
    """Quote a column's name, whatever characters it has.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"


def prepare(
    df: DataFrame,
    time: Any,
    by: Iterable[Any],
    windows: Window | Iterable[Window],
    aggregates: Aggregate | Iterable[Aggregate],
) -> Source:
    """Check a query against a DataFrame and give its input; nothing runs."""
    time, keys = expression(df, time, "time"), [expression(df, key, "by") for key in by]
    query = Query(time.name, tuple(key.name for key in keys), windows, aggregates)
    query = Query(query.time, query.by, tuple(window.timed() for window in query.windows), query.aggregates)
    check_lengths(query.windows)
    events = read(df, time, keys, query.aggregates)
    return Source(**{field.name: getattr(events, field.name) for field in fields(events)}, query=query)


def read(
    df: DataFrame, time: Expression, keys: list[Expression], aggregates: tuple[Aggregate, ...], *, carry: bool = False
) -> Events:
    """Check what is read of a DataFrame and give it under safe names; with carry also all its columns, as c0, c1, …."""
    _check_names(df, [time, *keys], aggregates)
    zoned = _check_time(df, time)
    inputs = list(dict.fromkeys(c for aggregate in aggregates for c in aggregate.columns))
    fickle = _check_expressions(df, [time, *keys], inputs, aggregated=not carry)
    names = {column: f"v{i}" for i, column in enumerate(inputs)}
    try:
        frame = df.select(
            *(["*"] if carry else []),
            _column(time).alias("ts"),
            *([] if time in fickle else [_micros(_column(time), zoned=zoned).alias("t")]),
            *(_column(key).alias(f"k{i}") for i, key in enumerate(keys)),
            *(_column(column).alias(name) for column, name in names.items()),
        )
        if carry:
            width = len(df.columns)
            frame = frame.toDF(*(f"c{i}" for i in range(width)), *frame.columns[width:])
        if time in fickle:  # another evaluation might give another time
            frame = frame.select("*", _micros(F.col("ts"), zoned=zoned).alias("t"))
        schema = frame.schema
    except AnalysisException as error:
        raise QueryError(f"the columns of the query cannot be read: {first_line(error)}") from error
    recipes, results = _made(frame, [(a, [schema[names[c]] for c in a.columns]) for a in aggregates])
    key_types = tuple(schema[f"k{i}"].dataType for i in range(len(keys)))
    by = tuple(key.name for key in keys)
    _check_keys(frame, by, key_types)
    safe = {key.value: f"k{i}" for i, key in enumerate(keys) if isinstance(key.value, str)} | names
    carried = [(f"c{i}", safe[name]) for i, name in enumerate(df.columns) if name in safe] if carry else ()
    return Events(by, frame, key_types, zoned, recipes, results, tuple(carried))


def expression(df: DataFrame, given: Any, role: str) -> Expression:
    """Give a name or a Spark column as an expression with Spark's own name for it."""
    if isinstance(given, str) and given:
        return Expression(given, given)
    if isinstance(given, Column):
        try:
            return Expression(given, df.select(given).columns[0])
        except AnalysisException as error:
            raise QueryError(f"{role} {given} cannot be read: {first_line(error)}") from error
    raise QueryError(f"{role} has {given!r}, which is no column. Use the name of a column, or a Column.")


def _column(given: str | Expression) -> Column:
    value = given.value if isinstance(given, Expression) else given
    return F.col(quoted(value)) if isinstance(value, str) else value


def _check_names(df: DataFrame, keys: Iterable[Expression], aggregates: Iterable[Aggregate]) -> None:
    """Refuse names that the input does not have; Spark compares them by its own setting of case."""
    names = [key.value for key in keys] + [column for aggregate in aggregates for column in aggregate.columns]
    fold = folding(df)
    known = {fold(name) for name in df.columns}
    missing = [name for name in dict.fromkeys(n for n in names if isinstance(n, str)) if fold(name) not in known]
    if missing:
        columns = ", ".join(map(repr, df.columns)) or "none"
        raise QueryError(f"no column {', '.join(map(repr, missing))} in the input. Its columns are {columns}.")


def folding(df: DataFrame) -> Callable[[str], str]:
    """Give what makes names the same that Spark takes for the same."""
    return str if is_set(df, "spark.sql.caseSensitive", "false") else str.casefold


def is_set(df: DataFrame, name: str, default: str) -> bool:
    """Tell whether a setting of a DataFrame's session is true, in whatever case it was written."""
    return str(df.sparkSession.conf.get(name, default)).casefold() == "true"


def check_lengths(windows: Iterable[Window]) -> None:
    """Refuse windows longer than the time that Spark knows."""
    for window in windows:
        if window.range > LONGEST_WINDOW:
            raise QueryError(
                f"range {window.range} of window {window.label!r} is longer than the time that Spark knows. "
                "Use at most 3660000 days."
            )


def _check_time(df: DataFrame, time: Expression) -> bool:
    """Tell whether the time is an instant; refuse what is no timestamp."""
    try:
        found = df.select(_column(time)).schema[0].dataType
    except AnalysisException as error:
        raise QueryError(f"time column {time.name!r} cannot be read: {first_line(error)}") from error
    if isinstance(found, T.TimestampType | T.TimestampNTZType):
        return isinstance(found, T.TimestampType)
    candidates = [repr(f.name) for f in df.schema if isinstance(f.dataType, T.TimestampType | T.TimestampNTZType)]
    choices = f"Timestamp columns are {', '.join(candidates)}." if candidates else "Cast it with F.to_timestamp(…)."
    raise QueryError(f"time column {time.name!r} is of type {found.simpleString()}, not a timestamp. {choices}")


def _check_expressions(
    df: DataFrame, grouping: list[Expression], values: list[str | Expression], *, aggregated: bool
) -> list[Expression]:
    """Give the expressions that are not deterministic; refuse what gives several rows or cannot stand where it does.

    Spark groups by what is not deterministic and takes it over rolling windows, but not within an aggregate.
    """
    fickle = []
    for given in (*grouping, *values):
        if not isinstance(given, Expression) or isinstance(given.value, str):
            continue
        try:
            if _is_deterministic(df, given):
                continue
            _ = df.select(F.struct(_column(given))).schema
        except AnalysisException as error:
            raise QueryError(f"column {given.name!r} cannot be read: {first_line(error)}") from error
        if aggregated and given not in grouping:
            raise QueryError(
                f"value {given.name!r} is not deterministic, and Spark aggregates no such value. "
                "Add it to the input first, as in df.withColumn('value', …), and use that column."
            )
        fickle.append(given)
    return fickle


def _is_deterministic(df: DataFrame, given: Expression) -> bool:
    """Tell whether an expression gives the same for the same row; an error if it cannot stand within an aggregate."""
    try:
        _ = df.groupBy().agg(F.any_value(_column(given))).schema
    except AnalysisException as error:
        if error.getCondition() == "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION":
            return False
        raise
    return True


def _check_keys(frame: DataFrame, by: Iterable[str], types: Iterable[T.DataType]) -> None:
    for i, (name, found) in enumerate(zip(by, types, strict=True)):
        try:
            _ = frame.groupBy(f"k{i}").count().schema
        except AnalysisException as error:
            raise QueryError(
                f"key {name!r} is of type {found.simpleString()}, which Spark cannot group by. Use another column."
            ) from error


def _made(
    frame: DataFrame, asked: list[tuple[Aggregate, list[T.StructField]]]
) -> tuple[tuple[Recipe, ...], tuple[T.StructField, ...]]:
    """Write aggregates over their inputs, and give the types of the results as Spark alone finds them.

    Spark is asked for all of them at once, and one by one only if it refuses: every question takes time.
    """
    try:
        recipes = tuple(_recipe(aggregate, inputs) for aggregate, inputs in asked)
        plain = [made.plain.alias(made.aggregate.name) for made in recipes]
        found = frame.groupBy().agg(*plain, *(column for made in recipes for column in _named(made.partials))).schema
        return recipes, tuple(found.fields[: len(plain)])
    except (AnalysisException, ParseException):
        one_by_one = [_made_alone(frame, aggregate, inputs) for aggregate, inputs in asked]
        return tuple(made for made, _ in one_by_one), tuple(result for _, result in one_by_one)


def _made_alone(frame: DataFrame, aggregate: Aggregate, inputs: list[T.StructField]) -> tuple[Recipe, T.StructField]:
    """Write one aggregate, without partials where Spark takes the type for the result alone: a set of maps, say."""
    try:
        made = _recipe(aggregate, inputs)
        result = frame.groupBy().agg(made.plain.alias(aggregate.name)).schema[0]
    except (AnalysisException, ParseException) as error:
        columns = " and ".join(
            f"{str(column)!r} of type {field.dataType.simpleString()}"
            for column, field in zip(aggregate.columns, inputs, strict=True)
        )
        raise QueryError(
            f"{aggregate.function.name} does not take column {columns}. Cast it, or use another aggregate. "
            f"Spark says: {first_line(error)}"
        ) from error
    try:
        _ = frame.groupBy().agg(F.lit(0), *_named(made.partials)).schema
    except AnalysisException:
        made = Recipe(aggregate, made.plain)
    return made, result


def _named(columns: Iterable[Column]) -> list[Column]:
    """Give columns some name: Spark finds none by itself where a function in Python is within."""
    return [column.alias(f"p{i}") for i, column in enumerate(columns)]


def _recipe(aggregate: Aggregate, inputs: list[T.StructField]) -> Recipe:
    columns, types = [F.col(field.name) for field in inputs], [field.dataType for field in inputs]
    return recipe(aggregate, columns, types, F.col("t"))


def _micros(time: Column, *, zoned: bool) -> Column:
    """Give microseconds since the epoch; a wall-clock time counts as if the clock stood in UTC."""
    if zoned:
        return F.unix_micros(time)
    seconds = (time - F.expr("timestamp_ntz'1970-01-01 00:00:00'")).cast(T.DecimalType(18, 6))
    return (seconds * F.lit(1_000_000)).cast("long")


def first_line(error: Exception) -> str:
    """Give the first line of what Spark says."""
    return str(error).strip().splitlines()[0]
