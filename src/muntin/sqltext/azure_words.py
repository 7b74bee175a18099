"""Words of Azure Stream Analytics that Spark has others for: types, functions, and + between texts."""

from __future__ import annotations

from sqlglot import exp

from muntin.sqltext.calls import called
from muntin.sqltext.pointing import did_you_mean, refuse

_PARTS = {
    "year": "yy yyyy",
    "quarter": "qq q",
    "month": "mm m",
    "dayofyear": "dy y",
    "day": "dd d",
    "week": "wk ww",
    "weekday": "dw w",
    "hour": "hh",
    "minute": "mi n",
    "second": "ss s",
    "millisecond": "ms",
    "microsecond": "mcs",
}
_UNITS = {word: unit for unit, words in _PARTS.items() for word in (unit, *words.split())}
_OF_TIME = {"week": "weekofyear", "weekday": "dayofweek"}
_FRACTIONS = {"millisecond": "SSS", "microsecond": "SSSSSS"}
_WORDS = {"month": "MMMM", "weekday": "EEEE"}
_NAMES = {"len": "length", "isnull": "coalesce", "iif": "if", "charindex": "locate"}
_NAMES |= {"getarrayelement": "get", "getarraylength": "size"}


def in_words_of_spark(tree: exp.Expr) -> exp.Expr:
    """Say what differs between the languages: float is double, + joins texts, DATEDIFF counts borders of units."""
    nodes = list(tree.walk())
    texts: set[int] = set()  # ids of the chains of + in which a text stands
    for node in reversed(nodes):
        said = _said(node, texts)
        if said is not node and node is not tree:
            node.replace(said)
    return tree


def _said(node: exp.Expr, texts: set[int]) -> exp.Expr:
    match node:
        case exp.DataType() if node.this == exp.DataType.Type.FLOAT:
            return exp.DataType.build("double")
        case exp.Alias() if isinstance(node.this, exp.Column) and node.this.name == node.alias:
            return node.this  # its name is the same
        case exp.Add() | exp.DPipe() if _is_text(node.this, texts) or node.expression.is_string:
            said = _joined(node)
            texts.update((id(node), id(said)))
            return said
        case exp.Anonymous():
            return _function(node).update_positions(node)
    return node


def _is_text(node: exp.Expr, texts: set[int]) -> bool:
    """Tell whether a node is a text, or a chain of + in which one stands; what is below it was looked at before."""
    return node.is_string or (isinstance(node, exp.Add | exp.DPipe) and id(node) in texts)


def _joined(node: exp.Expr) -> exp.Expr:
    """Join all texts in a chain of +."""
    if not isinstance(node, exp.Add):
        return node
    return exp.DPipe(this=_joined(node.this), expression=node.expression, safe=True)


def _function(node: exp.Anonymous) -> exp.Expr:
    """Call a function by the name that Spark knows it by."""
    name, arguments = called(node), node.expressions
    match name, arguments:
        case "dateadd", [unit, count, time]:
            return _call("TIMESTAMPADD", exp.var(_unit(unit).upper()), count, time)
        case "datediff", [unit, start, end]:
            return _borders(_unit(unit), start, end)
        case "datepart", [unit, time]:
            return _part(_unit(unit), time)
        case "datename", [unit, time]:
            if (part := _unit(unit)) in _WORDS:
                return _call("date_format", time, exp.Literal.string(_WORDS[part]))
            return exp.cast(_part(part, time), "string")
        case "datetimefromparts", [*date, seconds, millis]:
            return _call(
                "make_timestamp",
                *date,
                exp.Add(
                    this=seconds,
                    expression=exp.Div(this=exp.paren(millis, copy=False), expression=exp.Literal.number("1000.0")),
                ),
            )
        case "square", [value]:
            return _call("power", value, exp.Literal.number(2))
        case "regexmatch", [text, pattern]:
            return exp.cast(exp.paren(exp.RegexpLike(this=text, expression=pattern), copy=False), "bigint")
        case "getrecordpropertyvalue", [record, field] if field.is_string and field.name:
            return exp.Dot(this=record, expression=exp.to_identifier(field.name, quoted=True))
    return _call(_NAMES[name], *arguments) if name in _NAMES else node


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _unit(node: exp.Expr) -> str:
    name = node.name.casefold()
    if name not in _UNITS:
        refuse(node, f"{node.name!r} is no part of a time.{did_you_mean(name, _PARTS)} Use {', '.join(_PARTS)}.")
    return _UNITS[name]


def _borders(unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """Count the borders of a unit between two times, where Spark counts whole units."""
    unit = "day" if unit in ("dayofyear", "weekday") else unit
    cut = [_call("date_trunc", exp.Literal.string(unit), time) for time in (start, end)]
    return _call("TIMESTAMPDIFF", exp.var(unit.upper()), *cut)


def _part(unit: str, time: exp.Expr) -> exp.Expr:
    if unit in _FRACTIONS:
        return exp.cast(_call("date_format", time, exp.Literal.string(_FRACTIONS[unit])), "int")
    return _call(_OF_TIME.get(unit, unit), time)
