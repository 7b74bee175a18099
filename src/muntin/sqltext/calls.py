"""Aggregates as the dialects call them, and what they are called here."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from muntin.sqltext.pointing import did_you_mean, refuse, unsupported
from muntin.sqltext.spelling import spark_sql
from muntin.sqltext.statement import Call, Dialect

_COMMON = {name: name for name in ("count", "min", "max", "sum", "avg")}
_SAMPLES = {
    **dict.fromkeys(("stddev", "stddev_samp"), "stddev"),
    **dict.fromkeys(("variance", "var_samp"), "variance"),
    "stddev_pop": "stddev_pop",
    "var_pop": "var_pop",
}
_ALIKE = "covar_samp covar_pop corr min_by max_by bool_and bool_or count_if median mode percentile percentile_cont"

KNOWN: dict[Dialect, dict[str, str]] = {
    "spark": _COMMON
    | _SAMPLES
    | {name: name for name in _ALIKE.split()}
    | {"mean": "avg", "std": "stddev", "every": "bool_and", "some": "bool_or", "any": "bool_or"},
    "azure": _COMMON
    | {"count_big": "count", "stdev": "stddev", "stdevp": "stddev_pop", "var": "variance", "varp": "var_pop"}
    | {"percentile_cont": "percentile_cont"},
    "flink": _COMMON | _SAMPLES | {"first_value": "first", "last_value": "last"},
}
"""Muntin's functions by the names that the dialects call them by."""

_SPARK_OTHERS = (
    "any_value approx_count_distinct approx_percentile approx_top_k array_agg bit_and bit_or bit_xor "
    "bitmap_construct_agg bitmap_or_agg collect_list collect_set count_min_sketch first first_value grouping "
    "grouping_id histogram_numeric hll_sketch_agg hll_union_agg kll_sketch_agg_bigint kll_sketch_agg_double "
    "kurtosis last last_value listagg percentile_approx percentile_disc product regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness string_agg "
    "theta_sketch_agg theta_union_agg try_avg try_sum "
)
_OTHERS: dict[Dialect, frozenset[str]] = {
    "spark": frozenset(_SPARK_OTHERS.split()),
    "azure": frozenset(["collect", "collecttop", "topone", "percentile_disc", "isfirst", "last", "lag"]),
    "flink": frozenset(
        ["listagg", "collect", "array_agg", "rank", "dense_rank", "row_number", "lag", "lead", "json_arrayagg"]
    ),
}
"""Aggregates that are not supported here."""

_TWO = frozenset(["covar_samp", "covar_pop", "corr", "min_by", "max_by"])
_SAME_DISTINCT = frozenset(["min", "max", "bool_and", "bool_or"])


def called(node: exp.Expr) -> str:
    """Give the name of the function that a node calls, in lower case; nothing where it calls none."""
    if isinstance(node, exp.Anonymous):
        return node.name.casefold()
    return ""


def is_aggregate(node: exp.Expr, dialect: Dialect) -> bool:
    """Tell whether a node is a call of an aggregate, with what may follow it: FILTER, WITHIN GROUP or OVER."""
    inner = innermost(node)
    return called(inner) in KNOWN[dialect] or called(inner) in _OTHERS[dialect]


def innermost(node: exp.Expr) -> exp.Expr:
    """Give a call without what follows it."""
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.Window | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return node


def read_call(node: exp.Expr, dialect: Dialect) -> Call:
    """Read a call of an aggregate."""
    condition = None
    if isinstance(node, exp.Filter):
        condition, node = node.expression.this, node.this
    call = _plain(node, dialect)
    return call if condition is None else _filtered(call, spark_sql(condition))


def _plain(node: exp.Expr, dialect: Dialect) -> Call:
    name = called(innermost(node))
    function = KNOWN[dialect].get(name)
    if function is None:
        unsupported(
            node,
            f"{name.upper()} is not supported over windows here.{_advice(name)}",
            f"{name} is not shared over windows",
        )
    if function == "percentile_cont":
        return _continuous(node, dialect)
    if not isinstance(node, exp.Anonymous):
        unsupported(
            node,
            f"{name.upper()} stands with OVER or an order, which windows do not have. Leave that out.",
            f"{name} has a frame or an order of its own",
        )
    arguments = list(node.expressions)
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        return _distinct(node, name, function, arguments[0].expressions)
    if function == "count":
        return _count(node, arguments)
    if function == "percentile":
        if len(arguments) != 2:
            refuse(node, "PERCENTILE takes a value and a fraction here.", "percentile has weights")
        return Call("percentile", (_argument(arguments[0]),), (("fraction", _fraction(arguments[1])),))
    takes = 2 if function in _TWO else 1
    if len(arguments) != takes:
        refuse(
            node,
            f"{name.upper()} takes {takes} argument{'s' * (takes > 1)}, not {len(arguments)}.",
            f"{name} has another number of arguments",
        )
    return Call(function, tuple(map(_argument, arguments)))


def _argument(node: exp.Expr) -> str:
    if isinstance(node, exp.Star):
        refuse(node, "a column or expression is expected here, not *.", "* stands in an aggregate")
    if isinstance(node, exp.Order | exp.IgnoreNulls | exp.RespectNulls | exp.Alias | exp.Kwarg | exp.Limit):
        unsupported(node, "an aggregate takes plain expressions here.", "an aggregate has an order or a name in it")
    return spark_sql(node)


def _count(node: exp.Expr, arguments: list[exp.Expr]) -> Call:
    if len(arguments) != 1:
        unsupported(node, "COUNT takes * or one expression here.", "count has several arguments")
    value = arguments[0]
    if isinstance(value, exp.Star | exp.Literal):
        return Call("count")
    return Call("count", (_argument(value),))


def _distinct(node: exp.Expr, name: str, function: str, values: list[exp.Expr]) -> Call:
    if function in _SAME_DISTINCT and len(values) == 1:
        return Call(function, (_argument(values[0]),))
    if function != "count" or len(values) != 1:
        unsupported(
            node,
            f"{name.upper()} of distinct values is not supported here. Use COUNT(DISTINCT x), or MIN and MAX.",
            f"{name} of distinct values is not shared over windows",
        )
    return Call("count_distinct", (_argument(values[0]),))


def _continuous(node: exp.Expr, dialect: Dialect) -> Call:
    """Read PERCENTILE_CONT(fraction) with its order: WITHIN GROUP, or OVER in Azure."""
    order = node.expression if isinstance(node, exp.WithinGroup) else None
    if isinstance(node, exp.Window) and dialect == "azure" and not node.args.get("partition_by"):
        order = node.args.get("order")
    inner = innermost(node)
    if order is None or len(order.expressions) != 1 or len(inner.expressions) != 1:
        follows = "OVER (ORDER BY x)" if dialect == "azure" else "WITHIN GROUP (ORDER BY x)"
        refuse(
            node,
            f"PERCENTILE_CONT takes a fraction, and {follows} follows it.",
            "percentile_cont is used in another way",
        )
    (value,) = order.expressions
    fraction = _fraction(inner.expressions[0], reverse=bool(value.args.get("desc")))
    return Call("percentile", (_argument(value.this),), (("fraction", fraction),))


def _fraction(node: exp.Expr, reverse: bool = False) -> float:
    number = (
        Decimal(node.name) if isinstance(node, exp.Literal) and not node.is_string and len(node.name) < 30 else None
    )
    if number is None or not 0 <= number <= 1:
        refuse(node, "a number from 0 to 1 is expected here, such as 0.95.", "a percentile's fraction is no constant")
    return float(1 - number if reverse else number)


def _filtered(call: Call, condition: str) -> Call:
    """Let an aggregate see nulls where a condition does not hold; they count for nothing."""
    if call == Call("count"):
        return Call("count_if", (condition,))
    if call.function == "count_if":
        return Call("count_if", (f"({condition}) AND ({call.arguments[0]})",))
    *others, last = call.arguments  # the last one is the order of min_by and max_by, whose nulls count for nothing
    return Call(call.function, (*others, f"CASE WHEN {condition} THEN {last} END"), call.options)


def _advice(name: str) -> str:
    if name in ("topone", "first", "last", "first_value", "last_value", "any_value"):
        return " Use MIN, MAX or mt.first and mt.last in Python."
    if name == "percentile_disc":
        return " Use PERCENTILE_CONT, or mt.percentile in Python."
    return " Use COUNT, SUM, AVG, MIN, MAX or another that is listed, or plain Spark."


def hint(name: str, dialect: Dialect) -> str:
    """Say which aggregate a name may have meant."""
    return did_you_mean(name, KNOWN[dialect])
