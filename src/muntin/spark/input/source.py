"""The input of a query over windows, and its results under the names that users gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.query import Query
from muntin.spark.input.events import Events
from muntin.spark.input.origins import OUTPUT, Origins
from muntin.spark.input.parts import Step, selected
from muntin.spark.input.watching import NOTHING, Watching
from muntin.window import Window

DELAY = "spark.watermarkDelayMs"
"""The metadata by which Spark knows a column that the watermark belongs to."""
QUERIES = "muntin.queries"
"""The metadata of the event time that has the texts of the queries that a stream evaluates together."""
WINDOW = "spark.timeWindow"
"""The metadata by which Spark knows a window."""


@dataclass(frozen=True)
class Source:
    """Checked input, what is asked of it, and how the results are called."""

    events: Events
    query: Query
    expressions: tuple[str, ...]
    """The time and the keys as Spark writes them; a name alone could stand for anything."""
    watching: Watching = NOTHING
    """What windows watch beside the time."""
    late_row: T.StructType | None = None
    """A late row: the input's columns, which are carried, and the watermark; None where late rows are not asked for."""

    output: str | None = None
    """The output mode that a stream's result is made for; None where the rows are the same in every mode."""

    @property
    def carried(self) -> tuple[str, ...]:
        """The safe names of the input's columns, where late rows are given back."""
        return () if self.late_row is None else tuple(names.carried(i) for i in range(len(self.late_row) - 1))

    def over(self, frame: DataFrame) -> Source:
        """Give the same query over other rows with the same columns."""
        return replace(self, events=replace(self.events, frame=frame))

    def only(self, aggregates: tuple[Aggregate, ...]) -> Source:
        """Give the same windows with some of the aggregates."""
        recipes = tuple(made for made in self.events.recipes if made.aggregate in aggregates)
        query = replace(self.query, aggregates=tuple(made.aggregate for made in recipes))
        return replace(self, events=replace(self.events, recipes=recipes), query=query)

    def over_ranges(self) -> Source:
        """Give the same query with every aggregate as kernels evaluate it from the rows of ranges."""
        return replace(self, events=self.events.over_ranges())

    def moment(self, micros: str) -> str:
        """Turn microseconds into a timestamp of the input's own kind."""
        return moment(micros, zoned=self.events.zoned)

    def micros(self, time: str) -> str:
        """Turn a timestamp of the input's own kind into microseconds."""
        return micros(time, zoned=self.events.zoned)

    def finish(self, frame: DataFrame, aggregates: Iterable[Step]) -> DataFrame:
        """Give the long layout of rows with the number of their window, its start and the keys."""
        ranges = [int(window.range) if isinstance(window, Window) else 0 for window in self.query.windows]
        return self.finish_with(frame, aggregates, self._label, chosen(f"{range}L" for range in ranges))

    @property
    def numbers(self) -> dict[Window, int]:
        """The periodic windows with their places in the query."""
        return {window: place for place, window in enumerate(self.query.windows) if isinstance(window, Window)}

    @property
    def _label(self) -> str:
        """The label of the window that a number stands for."""
        return chosen(literal(window.label) for window in self.query.windows)

    def finish_framed(self, frame: DataFrame, aggregates: Iterable[Step], label: str | None = None) -> DataFrame:
        """Give the long layout of rows that tell themselves when they start and end, and perhaps their label."""
        own = (names.FROM, names.TO) if self.query.measured else None
        return self.named(frame, aggregates, label or self._label, self._stretch(names.START, names.FINISH), own)

    @property
    def measure_type(self) -> str:
        """The type of begins and ends in windows' own measures."""
        return "bigint" if self.watching.whole else "double"

    def finish_with(self, frame: DataFrame, aggregates: Iterable[Step], label: str, range: str) -> DataFrame:
        """Give the long layout of rows that tell the label and the range of their window themselves."""
        return self.named(frame, aggregates, label, self._stretch(names.START, f"{names.START} + {range}"))

    def instance(self, start: str, end: str) -> Column:
        """Give a stretch of time with the metadata of Spark's own windows: that it is one, and what the time has.

        Without the former, F.window_time and F.window would not take it; without the watermark's, nothing on a stream
        that is grouped by it would ever be closed.
        """
        return F.expr(self._stretch(start, end)).alias(names.WINDOW, metadata=self._window_metadata)

    def _stretch(self, start: str, end: str) -> str:
        return stretch(start, end, zoned=self.events.zoned)

    @cached_property
    def _window_metadata(self) -> dict[str, Any]:
        return self.events.frame.schema[names.TIMESTAMP].metadata | {WINDOW: True}

    @property
    def _described_window(self) -> dict[str, Any]:
        """The metadata of a result's window; on a stream it also says what the other columns are, for its sinks."""
        if DELAY not in self._window_metadata:
            return self._window_metadata
        origins = Origins(tuple(map(str, self.query.by)), tuple(asked.name for asked in self.query.aggregates))
        mode = {} if self.output is None else {OUTPUT: self.output}
        return self._window_metadata | origins.metadata() | mode

    def named(
        self,
        frame: DataFrame,
        aggregates: Iterable[Step],
        label: str,
        window: Step,
        own: tuple[str, str] | None = None,
    ) -> DataFrame:
        """Give the long layout: the window's id, the window, keys and aggregates under their own names.

        Where a window of the query has a measure of its own, begin and end in it stand after the window.
        """
        measures = [f"CAST({it} AS {self.measure_type})" for it in own or self.no_measures]
        late = [] if self.late_row is None else [names.LATE_ROW]
        steps = [f"coalesce({label}, '')", window, *measures, *self.events.keys, *aggregates, *late]
        result = selected(frame, {names.output(i): step for i, step in enumerate(steps)})
        schema = self.events.frame.schema
        kept = [self._described_window, *({} for _ in measures), *(schema[key].metadata for key in self.events.keys)]
        for place, metadata in enumerate(kept, start=1):  # the way through Python, and a text, lose it
            result = result.withMetadata(names.output(place), metadata) if metadata else result
        return result.toDF(*self.query.outputs, *late)

    @property
    def no_measures(self) -> tuple[str, ...]:
        """Begin and end in a measure that a window does not have, where another one has."""
        return ("NULL", "NULL") if self.query.measured else ()


def chosen(literals: Iterable[str]) -> str:
    """Give the literal whose place is the number of the window."""
    return f"element_at(array({', '.join(literals)}), {names.NUMBER} + 1)"


def literal(text: str) -> str:
    """Write a text as a literal of Spark SQL, whatever characters it has."""
    return f"decode(unhex('{text.encode().hex()}'), 'utf-8')"


def micros(time: str, *, zoned: bool) -> str:
    """Give microseconds since the epoch; a wall-clock time counts as if the clock stood in UTC."""
    if zoned:
        return f"unix_micros({time})"
    return f"CAST(CAST({time} - timestamp_ntz'1970-01-01 00:00:00' AS DECIMAL(18, 6)) * 1000000 AS BIGINT)"


def moment(micros: str, *, zoned: bool) -> str:
    """Turn microseconds into a timestamp; the other way round than micros."""
    if zoned:
        return f"timestamp_micros({micros})"
    seconds = f"CAST(CAST({micros} AS DECIMAL(24, 0)) / 1000000 AS DECIMAL(18, 6))"
    return f"timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds})"


def stretch(start: str, end: str, *, zoned: bool) -> str:
    """Give the struct of two times in microseconds that Spark's windows are."""
    return f"named_struct('start', {moment(start, zoned=zoned)}, 'end', {moment(end, zoned=zoned)})"
