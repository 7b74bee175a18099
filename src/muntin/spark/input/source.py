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
from muntin.query import Query, Windows, check_units, repeated
from muntin.spark.input.recipes import Recipe, Step, recipe, selected
from muntin.spark.input.time_column import conversion
from muntin.window import Window

LONGEST_WINDOW = 10_000 * 366 * 86_400_000_000
"""Ten thousand years: what Spark's timestamps span, and short enough that no sum of two leaves 64 bits."""

DELAY = "spark.watermarkDelayMs"
"""The metadata by which Spark knows a column that the watermark belongs to."""
WINDOW = "spark.timeWindow"
"""The metadata by which Spark knows a window."""

ATOMS = (T.NumericType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType, T.BinaryType)
"""Types, beside texts, of values that have no parts: Spark and Arrow compare them alike."""


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
    partial_types: tuple[T.DataType, ...]
    """The types of all partial columns."""
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
        return self.frame.where("t IS NOT NULL")

    @property
    def plain(self) -> list[Step]:
        """The results of aggregates over rows."""
        return [f"a{i}" for i in range(len(self.recipes))]

    @cached_property
    def lifted(self) -> DataFrame:
        """Every row as a partial of itself: t, the keys and the partials."""
        return self.lift(self.rows)

    def lift(self, frame: DataFrame, *others: str) -> DataFrame:
        """Give rows as partials of themselves, with other columns that they have; what is shared only once."""
        partials = [f"{text} AS {name}" for name, text in self._lifts.items() if name not in self.shared]
        rest = [name for name in others if name not in self.shared]
        return frame.selectExpr("t", *map(_one_of_equals, self.keys, self.key_types), *partials, *rest)

    @cached_property
    def shared(self) -> dict[str, str]:
        """Columns that are the same as an earlier one, which stands for them until the rows are in Python."""
        first = {key: key for key, found in zip(self.keys, self.key_types, strict=True) if _is_exact(found)}
        same = {}
        for name, text in (self._lifts | dict(self.carried)).items():
            earlier = first.setdefault(text, name)
            if earlier != name:
                same[name] = earlier
        return same

    @cached_property
    def _lifts(self) -> dict[str, str]:
        """The partials of one row."""
        groups = zip(self.partials, self.recipes, strict=True)
        return {name: text for names, made in groups for name, text in zip(names, made.lift, strict=bool(made.lift))}

    @cached_property
    def lifted_schema(self) -> T.StructType:
        """The types of keys and partials; those of a row's partials are those of a slice's."""
        types = dict(zip((name for names in self.partials for name in names), self.partial_types, strict=True))
        partials = [T.StructField(name, types[name]) for name in self._lifts]
        return T.StructType([*(self.frame.schema[name] for name in ("t", *self.keys)), *partials])

    def lowered(self, prefix: str = "") -> list[Step]:
        """Give the results of the partial columns, whose names may have something before them."""
        return [
            made.lower(*(prefix + name for name in names))
            for made, names in zip(self.recipes, self.partials, strict=True)
            if made.lower is not None
        ]


@dataclass(frozen=True)
class Source(Events):
    """The input of a query over windows."""

    query: Query
    expressions: tuple[str, ...]
    """The time and the keys as Spark writes them; a name alone could stand for anything."""

    def moment(self, micros: str) -> str:
        """Turn microseconds into a timestamp of the input's own kind."""
        if self.zoned:
            return f"timestamp_micros({micros})"
        seconds = f"CAST(CAST({micros} AS DECIMAL(24, 0)) / 1000000 AS DECIMAL(18, 6))"
        return f"timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds})"

    def micros(self, time: str) -> str:
        """Turn a timestamp of the input's own kind into microseconds."""
        return _micros(time, zoned=self.zoned)

    def finish(self, frame: DataFrame, aggregates: Iterable[Step]) -> DataFrame:
        """Give the long layout of rows with columns w (number of the window), s (its start) and the keys."""
        windows = self.query.windows
        label, range = _chosen(literal(w.label) for w in windows), _chosen(f"{w.range:d}L" for w in windows)
        return self.finish_with(frame, aggregates, label, range)

    def finish_with(self, frame: DataFrame, aggregates: Iterable[Step], label: str, range: str) -> DataFrame:
        """Give the long layout of rows that tell the label and the range of their window themselves."""
        return self.named(frame, aggregates, label, self._stretch("s", f"s + {range}"))

    def instance(self, start: str, end: str) -> Column:
        """Give a stretch of time with the metadata of Spark's own windows: that it is one, and what the time has.

        Without the former, F.window_time and F.window would not take it; without the watermark's, nothing on a stream
        that is grouped by it would ever be closed.
        """
        return F.expr(self._stretch(start, end)).alias("window", metadata=self._window_metadata)

    def _stretch(self, start: str, end: str) -> str:
        return f"named_struct('start', {self.moment(start)}, 'end', {self.moment(end)})"

    @property
    def _window_metadata(self) -> dict[str, Any]:
        return self.frame.schema["ts"].metadata | {WINDOW: True}

    def named(self, frame: DataFrame, aggregates: Iterable[Step], label: str, window: Step) -> DataFrame:
        """Give the long layout: the window's id, the window, keys and aggregates under their own names."""
        steps = [f"coalesce({label}, '')", window, *self.keys, *aggregates]
        result = selected(frame, {f"o{i}": step for i, step in enumerate(steps)})
        kept = [self._window_metadata, *(self.frame.schema[key].metadata for key in self.keys)]
        for place, metadata in enumerate(kept, start=1):  # the way through Python, and a text, lose it
            result = result.withMetadata(f"o{place}", metadata) if metadata else result
        return result.toDF(*self.query.outputs)


def _chosen(literals: Iterable[str]) -> str:
    """Give the literal whose place is the number of the window."""
    return f"element_at(array({', '.join(literals)}), w + 1)"


def literal(text: str) -> str:
    """Write a text as a literal of Spark SQL, whatever characters it has."""
    return f"decode(unhex('{text.encode().hex()}'), 'utf-8')"


def _one_of_equals(name: str, found: T.DataType) -> str:
    """Make equal floats the same bits, as grouping does: one zero, one NaN."""
    if _is_exact(found):
        return name
    kind = found.simpleString()
    return f"CASE WHEN {name} = 0 THEN {kind}(0) WHEN isnan({name}) THEN {kind}('NaN') ELSE {name} END AS {name}"


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
    windows: Windows,
    aggregates: Aggregate | Iterable[Aggregate],
) -> Source:
    """Check a query against a DataFrame and give its input; nothing runs."""
    time, keys = expression(df, time, "time"), [expression(df, key, "by") for key in by]
    query = Query(time.name, tuple(key.name for key in keys), windows, aggregates)
    check_units(query.windows)
    check_lengths(query.windows)
    if twice := alike(query.outputs, folding(df)):
        raise QueryError(f"output names {twice} are the same to Spark. Rename one with .alias(…).")
    events = read(df, time, keys, query.aggregates)
    copied = {field.name: getattr(events, field.name) for field in fields(events)}
    return Source(**copied, query=query, expressions=tuple(map(_written, (time, *keys))))


def read(
    df: DataFrame, time: Expression, keys: list[Expression], aggregates: tuple[Aggregate, ...], *, carry: bool = False
) -> Events:
    """Check what is read of a DataFrame and give it under safe names; with carry also all its columns, as c0, c1, …."""
    _check_names(df, [time, *keys], aggregates)
    inputs = list(dict.fromkeys(c for aggregate in aggregates for c in aggregate.columns))
    _check_expressions(df, [time, *keys], inputs, aggregated=not carry)
    names = {column: f"v{i}" for i, column in enumerate(inputs)}
    safe = ["ts", *(f"k{i}" for i in range(len(keys))), *names.values()]
    try:
        frame = df.select(*(["*"] if carry else []), *map(_column, (time, *keys, *inputs)))
        frame = frame.toDF(*(f"c{i}" for i in range(len(df.columns) if carry else 0)), *safe)
        schema = frame.schema
    except AnalysisException as error:
        raise QueryError(f"the columns of the query cannot be read: {first_line(error)}") from error
    zoned = _check_time(df, time, schema["ts"].dataType)
    frame = frame.selectExpr("*", f"{_micros('ts', zoned=zoned)} AS t")
    recipes, results, partials = _made(frame, [(a, [schema[names[c]] for c in a.columns]) for a in aggregates])
    key_types = tuple(schema[f"k{i}"].dataType for i in range(len(keys)))
    by = tuple(key.name for key in keys)
    _check_keys(frame, by, key_types)
    read = {key.value: f"k{i}" for i, key in enumerate(keys) if isinstance(key.value, str)} | names
    carried = [(f"c{i}", read[name]) for i, name in enumerate(df.columns) if name in read] if carry else ()
    return Events(by, frame, key_types, zoned, recipes, results, partials, tuple(carried))


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


def _written(given: Expression) -> str:
    """Give an expression as Spark writes it."""
    return str(given.value).removeprefix("Column<'").removesuffix("'>")


def _column(given: str | Expression) -> str | Column:
    """Give what DataFrame.select takes for a column; a name alone takes fewer calls into Spark than a column."""
    value: str | Column = given.value if isinstance(given, Expression) else given
    return quoted(value) if isinstance(value, str) else value


def _check_names(df: DataFrame, keys: Iterable[Expression], aggregates: Iterable[Aggregate]) -> None:
    """Refuse names that the input does not have; Spark compares them by its own setting of case."""
    names = [key.value for key in keys] + [column for aggregate in aggregates for column in aggregate.columns]
    fold = folding(df)
    known = {fold(name) for name in df.columns}
    missing = [name for name in dict.fromkeys(n for n in names if isinstance(n, str)) if fold(name) not in known]
    if missing:
        columns = ", ".join(map(repr, df.columns)) or "none"
        field = next((name for name in missing if fold(name.partition(".")[0]) in known), None)
        hint = "" if field is None else f" Use F.col({field!r}) for a field within a column."
        raise QueryError(f"no column {', '.join(map(repr, missing))} in the input. Its columns are {columns}.{hint}")


def folding(df: DataFrame) -> Callable[[str], str]:
    """Give what makes names the same that Spark takes for the same: it lowers their case, and folds nothing else."""
    return str if is_set(df, "spark.sql.caseSensitive", "false") else str.lower


def alike(names: Iterable[str], fold: Callable[[str], str]) -> str | None:
    """Write the first names that are the same once folded, as the user spelled them; None if all differ."""
    spelled = list(names)
    twice = repeated(map(fold, spelled))
    spellings = dict.fromkeys(repr(name) for name in spelled if fold(name) == twice)
    return None if twice is None else " and ".join(spellings)


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


def _check_time(df: DataFrame, time: Expression, found: T.DataType) -> bool:
    """Tell whether the time is an instant; refuse what is no timestamp."""
    if isinstance(found, T.TimestampType | T.TimestampNTZType):
        return isinstance(found, T.TimestampType)
    candidates = [repr(f.name) for f in df.schema if isinstance(f.dataType, T.TimestampType | T.TimestampNTZType)]
    choices = [f"Timestamp columns are {', '.join(candidates)}."] if candidates else []
    advice = " ".join([*choices, *conversion(df.select(_column(time)), time)])
    raise QueryError(f"time column {time.name!r} is of type {found.simpleString()}, not a timestamp. {advice}")


def _check_expressions(
    df: DataFrame, grouping: list[Expression], values: list[str | Expression], *, aggregated: bool
) -> None:
    """Refuse expressions that give several rows, or that cannot stand where they do.

    Spark groups by what is not deterministic and takes it over rolling windows, but not within an aggregate. It is
    asked once for all expressions, and one by one only if it refuses: every question takes time.
    """
    given = [one for one in (*grouping, *values) if isinstance(one, Expression) and not isinstance(one.value, str)]
    try:
        if given:
            _ = df.select(*(F.any_value(_column(one)) for one in given)).schema
    except AnalysisException:
        for one in given:
            _check_alone(df, one, aggregated=aggregated and one not in grouping)


def _check_alone(df: DataFrame, given: Expression, *, aggregated: bool) -> None:
    try:
        if _is_deterministic(df, given):
            return
        _ = df.select(F.struct(_column(given))).schema
    except AnalysisException as error:
        raise QueryError(f"column {given.name!r} cannot be read: {first_line(error)}") from error
    if aggregated:
        raise QueryError(
            f"value {given.name!r} is not deterministic, and Spark aggregates no such value. "
            "Add it to the input first, as in df.withColumn('value', …), and use that column."
        )


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
    """Refuse types that Spark cannot group by; it is asked of those that have parts."""
    for i, (name, found) in enumerate(zip(by, types, strict=True)):
        if isinstance(found, (*ATOMS, T.StringType)):
            continue
        try:
            _ = frame.groupBy(f"k{i}").count().schema
        except AnalysisException as error:
            raise QueryError(
                f"key {name!r} is of type {found.simpleString()}, which Spark cannot group by. Use another column."
            ) from error


Made = tuple[tuple[Recipe, ...], tuple[T.StructField, ...], tuple[T.DataType, ...]]
"""Recipes, the types of their results, and those of all their partials."""


def _made(frame: DataFrame, asked: list[tuple[Aggregate, list[T.StructField]]]) -> Made:
    """Write aggregates over their inputs, and give the types of the results as Spark alone finds them.

    Spark is asked for all of them at once, and one by one only if it refuses: every question takes time.
    """
    legacy = is_set(frame, "spark.sql.legacy.statisticalAggregate", "false")
    try:
        return _typed(frame, tuple(_recipe(aggregate, inputs, legacy=legacy) for aggregate, inputs in asked))
    except (AnalysisException, ParseException):
        return _typed(frame, tuple(_made_alone(frame, aggregate, inputs, legacy=legacy) for aggregate, inputs in asked))


def _typed(frame: DataFrame, recipes: tuple[Recipe, ...]) -> Made:
    """Give recipes with the types of results and partials."""
    partials = [step for made in recipes for step in made.partials]
    steps = {f"a{i}": made.plain for i, made in enumerate(recipes)} | {f"p{i}": step for i, step in enumerate(partials)}
    fields = selected(frame, steps).schema.fields
    results = [
        T.StructField(made.aggregate.name, field.dataType, field.nullable)
        for made, field in zip(recipes, fields, strict=False)
    ]
    return recipes, tuple(results), tuple(field.dataType for field in fields[len(recipes) :])


def _made_alone(frame: DataFrame, aggregate: Aggregate, inputs: list[T.StructField], *, legacy: bool) -> Recipe:
    """Write one aggregate, without partials where Spark takes the type for the result alone: a set of maps, say."""
    try:
        made = _recipe(aggregate, inputs, legacy=legacy)
        _typed(frame, (Recipe(aggregate, made.plain),))
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
        _typed(frame, (made,))
    except AnalysisException:
        return Recipe(aggregate, made.plain)
    return made


def _recipe(aggregate: Aggregate, inputs: list[T.StructField], *, legacy: bool) -> Recipe:
    names, types = [field.name for field in inputs], [field.dataType for field in inputs]
    return recipe(aggregate, names, types, "t", legacy=legacy)


def _micros(time: str, *, zoned: bool) -> str:
    """Give microseconds since the epoch; a wall-clock time counts as if the clock stood in UTC."""
    if zoned:
        return f"unix_micros({time})"
    return f"CAST(CAST({time} - timestamp_ntz'1970-01-01 00:00:00' AS DECIMAL(18, 6)) * 1000000 AS BIGINT)"


def first_line(error: Exception) -> str:
    """Give the first line of what Spark says."""
    return str(error).strip().splitlines()[0]
