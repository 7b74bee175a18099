"""The tables that SQL text may name: DataFrames given by keyword, and whatever Spark's catalog has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from muntin.choices import TableScope, check_choice
from muntin.errors import QueryError, UnsupportedError
from muntin.spark.caching import unlike_others
from muntin.spark.input.checking import alike, folding, quoted
from muntin.spark.plans import is_classic
from muntin.spark.statements.reads import GivenOnly

_NAME = r"`(?:[^`]|``)*`|\w+"
_WHOLE = re.compile(
    rf"\s*SELECT\s+\*\s+FROM\s+(?P<table>{_NAME})(?:\s+(?:AS\s+)?(?P<alias>{_NAME}))?\s*", re.IGNORECASE
)
"""A query for all of one table."""


@dataclass(frozen=True)
class Tables:
    """A session of Spark, and DataFrames that go before the tables of its catalog."""

    spark: SparkSession
    given: Mapping[str, DataFrame] = field(default_factory=dict)
    views: dict[str, DataFrame] = field(default_factory=dict)
    """Temporary views of the DataFrames, under names that nobody else has."""
    scope: TableScope = "catalog"
    """Whether texts read what else the session can."""

    def with_more(self, others: Mapping[str, DataFrame]) -> Tables:
        """Give the same tables and others, which count less."""
        fold = self._fold
        known = {fold(name) for name in self.given}
        more = {name: frame for name, frame in others.items() if fold(name) not in known}
        return replace(self, given={**more, **self.given})

    def query(self, sql: str) -> DataFrame:
        """Let Spark analyse a query over the tables; nothing runs, and no view of a user changes.

        The DataFrames stand before the query as steps of a WITH. A query in parentheses cannot be a command.
        """
        if (whole := _WHOLE.fullmatch(sql)) and (frame := self._named(plain_name(whole["table"]))) is not None:
            return frame.alias(plain_name(whole["alias"] or whole["table"]))
        asked = {name: frame for name, frame in self.given.items() if mentions(sql, name)}
        if not asked or all(map(is_classic, asked.values())):
            views = {name: self._view(frame) for name, frame in asked.items()}
            steps = (f"{quoted(name)} AS (TABLE {view})" for name, view in views.items())
            text = f"WITH {', '.join(steps)} (\n{sql}\n)" if views else f"(\n{sql}\n)"
            if (reads := self._reads) is not None:
                reads.check_query(sql, text, views.values())
            return self.spark.sql(text)
        remote: dict[str, Any] = {f"muntin_{place}": frame for place, frame in enumerate(asked.values())}
        steps = (f"{_escaped(quoted(name))} AS (TABLE {{{view}}})" for name, view in zip(asked, remote, strict=True))
        return self.spark.sql(f"WITH {', '.join(steps)} (\n{_escaped(sql)}\n)", **remote)

    def check_expressions(self, texts: Iterable[str]) -> None:
        """Refuse expressions that read what texts may not."""
        if (reads := self._reads) is not None:
            for text in texts:
                reads.check_expression(text)

    @cached_property
    def _reads(self) -> GivenOnly | None:
        """What texts may read; None where that is all that the session can."""
        return None if self.scope == "catalog" else GivenOnly(self.spark, tuple(self.given), self._fold)

    def release(self) -> None:
        """Drop the temporary views: what was analysed needs them no more."""
        while self.views:
            self.spark.catalog.dropTempView(self.views.popitem()[0])

    def _view(self, frame: DataFrame) -> str:
        """Give the view of a DataFrame; Spark takes some time to make one, and more to drop it, so each has one."""
        known = next((name for name, other in self.views.items() if other is frame), None)
        if known is not None:
            return known
        name = f"muntin_{uuid4().hex}"
        (frame if frame.isStreaming else unlike_others(frame)).createTempView(name)  # dropping it would drop its cache
        self.views[name] = frame
        return name

    def known(self) -> list[str]:
        """List the names of all tables at hand; those of the catalog in its current database."""
        if self.scope == "given":
            return list(self.given)
        tables = (table.name for table in self.spark.catalog.listTables())
        return [*self.given, *(name for name in tables if name not in self.views)]

    def _named(self, name: str) -> DataFrame | None:
        fold = self._fold
        return next((frame for given, frame in self.given.items() if fold(given) == fold(name)), None)

    @cached_property
    def is_case_sensitive(self) -> bool:
        """Whether names that differ only by case are two names to the session."""
        return self._is_on("spark.sql.caseSensitive")

    @property
    def quotes_names(self) -> bool:
        """Whether the session takes what is in double quotes for a name, and not for a text."""
        return self._is_on("spark.sql.ansi.enabled") and self._is_on("spark.sql.ansi.doubleQuotedIdentifiers")

    def _is_on(self, setting: str) -> bool:
        return str(self.spark.conf.get(setting)).casefold() == "true"

    @property
    def _fold(self) -> Any:
        return str if self.is_case_sensitive else str.lower


def tables_of(spark: SparkSession | None, sources: Mapping[str, Any], scope: TableScope = "catalog") -> Tables:
    """Check the session and the sources; a session that is not given is that of a source, or the active one."""
    check_choice("tables", scope, TableScope)
    for name, source in sources.items():
        if not isinstance(source, DataFrame):
            raise QueryError(
                f"source {name!r} is {_article(source)}, not a DataFrame. Give a DataFrame of Spark, as in {name}=df."
            )
    if spark is not None and not _is_session(spark):
        raise QueryError(
            f"spark is {_article(spark)}, not a session. Call a table of that name otherwise, or add it to the catalog."
        )
    own = next((source.sparkSession for source in sources.values()), None)
    session = spark or own or SparkSession.getActiveSession()
    if session is None:
        raise QueryError("there is no Spark session. Give one as spark=mt.session(), or a DataFrame as a source.")
    for name, source in sources.items():
        if not _is_same(session, source.sparkSession):
            raise QueryError(f"source {name!r} is of another Spark session. Use DataFrames of one session.")
    if sources and (twice := alike(sources, folding(next(iter(sources.values()))))):
        raise QueryError(f"sources {twice} are the same to Spark. Rename one.")
    if scope == "given" and getattr(session, "_jsparkSession", None) is None:
        raise UnsupportedError(
            "tables='given' is not supported on Spark Connect, which shows no plan of a text before it reads. "
            "Use a session of Spark itself, or a server whose catalog and files nobody else needs."
        )
    return Tables(session, dict(sources), scope=scope)


def _is_session(given: object) -> bool:
    return hasattr(given, "sql") and hasattr(given, "catalog")


def _is_same(one: SparkSession, other: SparkSession) -> bool:
    """Tell whether two sessions are one: Python may have several objects for one in the JVM."""
    if one is other:
        return True
    mine, theirs = (getattr(session, "_jsparkSession", None) for session in (one, other))
    return mine is not None and theirs is not None and bool(mine.equals(theirs))


def mentions(sql: str, name: str) -> bool:
    """Tell whether a query may name a table: its letters stand in the text, in whatever case.

    >>> mentions("SELECT * FROM `a``b`", "A`b"), mentions("SELECT 1", "events")
    (True, False)
    """
    return quoted(name)[1:-1].lower() in sql.lower() or name.lower() in sql.lower()


def plain_name(name: str) -> str:
    """Give a name without its quotes."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _escaped(sql: str) -> str:
    """Write a text so that formatting gives it back as it is."""
    return sql.replace("{", "{{").replace("}", "}}")


def _article(given: object) -> str:
    return f"of type {type(given).__name__}"
