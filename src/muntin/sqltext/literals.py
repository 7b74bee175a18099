"""Literals and types of Spark SQL, which go through as they are written: what they mean is Spark's to say.

A node that has the text of the user is written as that text. Its other arguments say what the text means, for those who
look into it and for other dialects.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

_VERBATIM = "verbatim"
"""The argument of a node that has the text of the user."""
_TEXTS = (TokenType.STRING, TokenType.RAW_STRING)
_TYPES = frozenset(["DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"])
_SUFFIXED = re.compile(r"(\d++\.?\d*+(?:e[+-]?\d++)?)(l|s|y|f|d|bd)", re.IGNORECASE)
_SUFFIXES = {"l": "bigint", "s": "smallint", "y": "tinyint", "f": "float", "d": "double", "bd": "decimal"}


class VerbatimTokenizer(Spark.Tokenizer):
    """Leave the suffix of a number where it is."""

    NUMERIC_LITERALS: ClassVar[Any] = {}

    def tokenize(self, sql: str) -> list[Token]:
        """Read the tokens of a text."""
        tokens: list[Token] = super().tokenize(sql)
        for token in tokens:
            if token.token_type == TokenType.VAR and _SUFFIXED.fullmatch(token.text):
                token.token_type = TokenType.NUMBER
        return tokens


class VerbatimParser(SparkParser):
    """Keep the text of literals and types."""

    ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}  # array(1)[0] is an item
    PRIMARY_PARSERS: ClassVar[Any] = {
        **SparkParser.PRIMARY_PARSERS,
        TokenType.NUMBER: lambda self, token: self._suffixed(token),
    }

    def _parse_type(self, *args: Any, **options: Any) -> exp.Expr | None:
        literal = self._parse_literal()
        return super()._parse_type(*args, **options) if literal is None else self._parse_column_ops(literal)

    def _parse_literal(self) -> exp.Expr | None:
        """Read texts side by side, a type before a text, or a number with a suffix."""
        first = self._curr
        if first.token_type in _TEXTS:
            return self._verbatim(first, exp.Literal.string("".join(self._values())))
        if first.text.upper() in _TYPES and self._next.token_type in _TEXTS:
            type = self._parse_types(check_func=True, allow_identifiers=False)
            return self._verbatim(first, exp.Cast(this=self._parse_literal(), to=type))
        if first.text.upper() == "X" and self._next.token_type in _TEXTS:
            self._advance(2)
            return self._verbatim(first, exp.HexString(this=self._prev.text))
        return None

    def _suffixed(self, token: Token) -> exp.Expr:
        if suffixed := _SUFFIXED.fullmatch(token.text):
            type = exp.DataType.build(_SUFFIXES[suffixed[2].lower()])
            return self._verbatim(token, exp.Cast(this=exp.Literal.number(suffixed[1]), to=type))
        return exp.Literal(this=token.text, is_string=False)

    def _values(self) -> list[str]:
        """Read texts that stand side by side; a quote between two that touch belongs to the text."""
        values: list[str] = []
        while self._match_set(_TEXTS):
            before, token = self._tokens[self._index - 2], self._prev
            quote = self.sql[token.start]
            if values and before.end + 1 == token.start and self.sql[before.start] == quote:
                values.append(quote)
            values.append(token.text)
        return values

    def _parse_interval(self, require_interval: bool = True, parse_function_unit: bool = True) -> Any:
        first = self._curr
        interval = super()._parse_interval(require_interval, parse_function_unit)
        if interval is None or not require_interval or interval.find(exp.Column) is not None:
            return interval
        return self._verbatim(first, interval)

    def _parse_types(self, *args: Any, **options: Any) -> exp.Expr | None:
        first = self._curr
        type: exp.Expr | None = super()._parse_types(*args, **options)
        if isinstance(type, exp.DataType) and _squeezed(self._find_sql(first, self._prev)) != _squeezed(
            type.sql(self.dialect)
        ):
            self._verbatim(first, type)
        return type

    def _parse_string(self) -> exp.Expr | None:
        first = self._curr
        text = super()._parse_string()
        return self._verbatim(first, text) if isinstance(text, exp.Literal) else text

    def _verbatim(self, first: Token, node: exp.Expr) -> exp.Expr:
        node.set(_VERBATIM, self._find_sql(first, self._prev))
        return node.update_positions(first)


class VerbatimGenerator(SparkGenerator):
    """Write the text of the user where a node has it."""

    def sql(self, expression: Any, key: str | None = None, comment: bool = True) -> str:
        """Write a node."""
        text = expression.args.get(_VERBATIM) if isinstance(expression, exp.Expr) and not key else None
        return text or super().sql(expression, key, comment)


def _squeezed(text: str) -> str:
    return "".join(text.upper().split())
