"""What SQL text may read with tables="given": the tables that were passed in and its own steps, and nothing else.

This is checked on Spark's own plan of the text before Spark resolves a name: to resolve the name of a file is to read
it. Whatever is not known here is refused, so that a clause of a later Spark does not open what is closed today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from muntin.errors import QueryError
from muntin.spark.statements.mistakes import keyword_of, suggest_name

_QUIET_PLANS = (
    "Aggregate Deduplicate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LimitAll LocalLimit "
    "LocalRelation Offset OneRowRelation PipeOperator Pivot Project RebalancePartitions Repartition "
    "RepartitionByExpression ResolvedInlineTable Sample Sort SubqueryAlias UnresolvedHaving UnresolvedHint "
    "UnresolvedInlineTable UnresolvedQualify UnresolvedSubqueryColumnAliases UnresolvedTVFAliases Union Unpivot "
    "WithWindowDefinition"
)
_PLANS = frozenset(_QUIET_PLANS.split())
"""Nodes of plans that read nothing but what is below them."""
_ROW_MAKERS = (
    "collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range sql_keywords "
    "stack variant_explode variant_explode_outer"
)
_TABLE_FUNCTIONS = frozenset(_ROW_MAKERS.split())
"""Table functions that make rows of their arguments."""
_CALL_JAVA = frozenset(["java_method", "reflect", "try_reflect"])
_READ_FILES = frozenset(["from_avro", "from_protobuf", "from_xml", "schema_of_avro", "schema_of_xml", "to_protobuf"])
"""Functions whose arguments or options may be the path of a schema."""


@dataclass(frozen=True)
class GivenOnly:
    """The tables that texts may read in a session."""

    spark: SparkSession
    names: tuple[str, ...]
    fold: Callable[[str], str]
    """Makes names equal that the session takes for one."""
    _subqueries: dict[str, bool] = field(default_factory=dict)
    """Whether expressions of a class have a plan in them."""

    def check_query(self, sql: str, text: str, views: Iterable[str]) -> None:
        """Refuse a query that reads anything else, given with the whole text that Spark is to run."""
        _check_variables(sql)
        self._check(self._parser.parsePlan(text), frozenset(map(self.fold, views)))

    def check_expression(self, sql: str) -> None:
        """Refuse an expression that reads anything else."""
        _check_variables(sql)
        for plan in self._plans_in(self._parser.parseExpression(sql)):
            self._check(plan, frozenset())

    def _check(self, top: Any, scope: frozenset[str]) -> None:
        """Check a plan and all plans within it, each with the names of the steps that it knows."""
        plans = [(top, scope)]
        while plans:
            plan, scope = plans.pop()
            kind = plan.getClass().getSimpleName()
            if kind == "UnresolvedWith":
                plans += self._steps(plan, scope)
                continue
            self._check_node(plan, kind, scope)
            plans += [(child, scope) for child in self._items(plan.children())]
            expressions = list(self._items(plan.expressions()))
            if kind == "WithWindowDefinition":
                expressions += self._items(plan.windowDefinitions().values().toSeq())
            plans += [(inner, scope) for each in expressions for inner in self._plans_in(each)]

    def _steps(self, plan: Any, scope: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
        """Yield the steps of a WITH and its query; each step knows those before it, and itself if it may."""
        recursive = _is_recursive(plan)
        for step in self._items(plan.cteRelations()):
            known = scope | {self.fold(step._1())}  # noqa: SLF001 - the first of a tuple in Scala
            yield step._2(), known if recursive else scope  # noqa: SLF001
            scope = known
        yield plan.child(), scope

    def _check_node(self, plan: Any, kind: str, scope: frozenset[str]) -> None:
        match kind:
            case "UnresolvedRelation":
                parts = list(self._items(plan.multipartIdentifier()))
                if len(parts) > 1 or self.fold(parts[0]) not in scope:
                    raise self._refused_table(parts)
            case "UnresolvedTableValuedFunction":
                name = ".".join(self._items(plan.name()))
                if name.lower() not in _TABLE_FUNCTIONS:
                    raise QueryError(
                        f"table function {name!r} {_REFUSED} Of those it takes explode, inline, range, stack."
                    )
            case "PlanWithUnresolvedIdentifier":
                raise QueryError(f"IDENTIFIER(…) {_REFUSED} Write the name of the table.")
            case "ScriptTransformation":
                raise QueryError(f"TRANSFORM … USING a command {_REFUSED} Use SQL functions.")
            case "RelationTimeTravel":
                raise QueryError(f"a table AS OF a version or time {_REFUSED} Give that version as a DataFrame.")
            case _ if kind not in _PLANS:
                raise QueryError(f"Spark's {kind} {_REFUSED} Leave it out, or use tables='catalog'.")

    def _refused_table(self, parts: list[str]) -> QueryError:
        name = ".".join(map(repr, parts))
        return QueryError(
            f"no table {name}.{suggest_name(parts[-1], self.names)} Give it by keyword, as in "
            f"{keyword_of(parts[-1])}=df: tables='given' reads nothing else."
        )

    def _plans_in(self, expression: Any) -> Iterator[Any]:
        """Check the names of functions in an expression, and yield the plans of its subqueries."""
        for node in self._items(expression.collect(self._every)):
            kind = node.getClass().getSimpleName()
            match kind:
                case "UnresolvedFunction":
                    self._check_function(list(self._items(node.nameParts())))
                case "UnresolvedGenerator":
                    name = node.name()
                    schema = [name.database().get()] if name.database().isDefined() else []
                    self._check_function([*schema, name.funcName()])
                case _ if "UnresolvedIdentifier" in kind:
                    raise QueryError(f"IDENTIFIER(…) {_REFUSED} Write the name.")
            if kind not in self._subqueries:
                self._subqueries[kind] = self._plan_expression.isInstance(node)
            if self._subqueries[kind]:
                yield node.plan()

    def _check_function(self, parts: list[str]) -> None:
        name = ".".join(parts)
        if len(parts) > 1 or not self._catalog.lookupBuiltinOrTempFunction(name).isDefined():
            raise QueryError(f"function {name!r} {_REFUSED} Use functions of Spark, or register one in the session.")
        if name.lower() in _CALL_JAVA:
            raise QueryError(f"function {name!r} {_REFUSED} It calls any method of Java. Use SQL functions.")
        if name.lower() in _READ_FILES:
            raise QueryError(f"function {name!r} {_REFUSED} It may read a schema from a file. Use it before mt.sql.")

    def _items(self, sequence: Any) -> Iterator[Any]:
        return iter(self.spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(sequence))  # type: ignore[union-attr]  # noqa: SLF001

    @cached_property
    def _parser(self) -> Any:
        return self.spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001

    @cached_property
    def _catalog(self) -> Any:
        return self.spark._jsparkSession.sessionState().catalog()  # noqa: SLF001

    @cached_property
    def _plan_expression(self) -> Any:
        return self.spark._jvm.org.apache.spark.sql.catalyst.expressions.PlanExpression._java_lang_class  # type: ignore[union-attr]  # noqa: SLF001

    @cached_property
    def _every(self) -> Any:
        """A partial function of Scala that gives every node back."""
        scala = self.spark._jvm.scala  # type: ignore[union-attr]  # noqa: SLF001
        same = getattr(_object(scala, "Predef"), "$conforms")()
        return _object(scala, "PartialFunction").fromFunction(same)


_REFUSED = "is not read with tables='given'."


def _check_variables(sql: str) -> None:
    """Refuse ${…}: Spark writes settings, properties of Java and variables of the environment in its place."""
    if "${" in sql:
        raise QueryError(
            f"${{…}} {_REFUSED} Spark replaces it by a setting or a variable of the environment. Write the value, "
            "or concat('$', '{')."
        )


def _object(package: Any, name: str) -> Any:
    """Give an object of Scala."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")


def _is_recursive(plan: Any) -> bool:
    try:
        return bool(plan.allowRecursion())
    except Py4JError:  # a Spark that has no recursion
        return False
