"""The dialects as sqlglot parses them: Spark's, that of Azure Stream Analytics, and Flink's.

Functions are kept as they are written, so that nothing is lost on the way back to text. Aggregates and windows are
plain calls in all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, NoReturn

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import ParseError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.parsers.tsql import TSQLParser
from sqlglot.tokenizer_core import Token, TokenType

from muntin.sqltext.literals import VerbatimGenerator, VerbatimParser, VerbatimTokenizer
from muntin.sqltext.pointing import Refused
from muntin.sqltext.statement import Dialect

TIME, PARTITION, OVER = "timestamp_by", "partition_by", "timestamp_over"
"""What a table of Azure has beside its name and alias."""

_SYNTAX = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "POSITION", "OVERLAY", "CEIL", "FLOOR"}
"""Functions whose arguments are more than a list."""
_WITH_UNITS = ("DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPADD", "TIMESTAMPDIFF")
"""Functions whose first argument may be a unit of time, which must not be quoted."""
_LEAST_MOVES, _MOVES = 1000, 100
"""How often a parser may move from token to token, at least and for each of them; 3 for each is usual."""


def _with_unit(name: str, most: int) -> Any:
    def build(args: list[exp.Expr]) -> exp.Expr:
        if len(args) == most and isinstance(args[0], exp.Column) and not args[0].table:
            args[0] = exp.Var(this=args[0].name).update_positions(args[0].this)
        return exp.Anonymous(this=name, expressions=args)

    return build


_PLAIN_FUNCTIONS: dict[str, Any] = {name: _with_unit(name, 3) for name in _WITH_UNITS}


def syntax_error(message: str, place: int) -> ParseError:
    """Make sqlglot's error with a place in the text."""
    return ParseError(message, [{"description": message, "start": place}])


class _Places(Parser):
    """What parsers of all dialects have in common: errors and literals have places, and no text is tried for ever."""

    _moves = 0

    def _advance(self, times: int = 1) -> None:
        self._moves += 1
        if self._moves > _LEAST_MOVES + _MOVES * len(self._tokens):
            raise Refused(self._tokens[0].start, "this can be read in too many ways. Add brackets or conditions.")
        super()._advance(times)

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        at = token or self._curr
        raise syntax_error(message, at.start if at else self._prev.end + 1 if self._prev else 0)

    def _parse_primary(self) -> exp.Expr | None:
        token = self._curr
        primary: exp.Expr | None = super()._parse_primary()
        if primary is not None and "start" not in primary.meta:
            primary.update_positions(token)
        return primary

    def _warn_unsupported(self) -> None:
        """Say nothing: what is not a query is refused later."""

    def _parse_as_command(self, start: Token) -> exp.Command:
        raise syntax_error(f"{start.text!r} begins nothing that is read here", start.start)


class _PlainFunctions(_Places, SparkParser):
    """Keep functions as they are written."""

    FUNCTIONS: ClassVar[Any] = _PLAIN_FUNCTIONS
    FUNCTION_PARSERS: ClassVar[Any] = {
        name: parser for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in _SYNTAX
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[Any] = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    QUERY_MODIFIER_TOKENS: ClassVar[Any] = SparkParser.QUERY_MODIFIER_TOKENS - {TokenType.WINDOW}  # GROUP BY window
    FUNC_TOKENS: ClassVar[Any] = SparkParser.FUNC_TOKENS | {TokenType.SESSION, TokenType.ANY, TokenType.SOME}


class SparkWindows(Spark):
    """Spark SQL."""

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """Leave paths alone: they are not read here."""
        return path

    class Tokenizer(VerbatimTokenizer):
        """Keep numbers whole."""

    class Parser(_PlainFunctions, VerbatimParser):
        """Keep functions, literals and types as they are written."""

    class Generator(VerbatimGenerator):
        """Write literals and types as they were."""


class SparkQuotedNames(SparkWindows):
    """Spark SQL where double quotes are around names, as in standard SQL."""

    class Tokenizer(VerbatimTokenizer):
        """Quote texts with single quotes alone."""

        QUOTES: ClassVar[Any] = ["'"]
        IDENTIFIERS: ClassVar[Any] = ["`", '"']

    class Parser(SparkWindows.Parser):
        """Keep functions, literals and types as they are written."""

    class Generator(SparkWindows.Generator):
        """Write literals and types as they were."""


class AzureWindows(TSQL):
    """The language of Azure Stream Analytics; what is written in it has words of Spark, which read the same again."""

    TYPED_DIVISION = False
    SAFE_DIVISION = True
    to_json_path = SparkWindows.to_json_path

    class Generator(SparkGenerator):
        """Quote names as Azure does."""

    class Parser(_Places, TSQLParser):
        """Read TIMESTAMP BY and PARTITION BY after a table."""

        FUNCTIONS: ClassVar[Any] = _PLAIN_FUNCTIONS | {name: _with_unit(name, 2) for name in ("DATEPART", "DATENAME")}
        FUNCTION_PARSERS: ClassVar[Any] = {
            name: parser for name, parser in TSQLParser.FUNCTION_PARSERS.items() if name in _SYNTAX
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[Any] = {"CASE": TSQLParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
        FUNC_TOKENS: ClassVar[Any] = TSQLParser.FUNC_TOKENS | {TokenType.SESSION}

        def _at_clause(self) -> bool:
            partition = self._match(TokenType.PARTITION_BY, advance=False)
            return bool(partition or self._match_text_seq("TIMESTAMP", "BY", advance=False))

        def _parse_table_alias(self, alias_tokens: Collection[TokenType] | None = None) -> exp.TableAlias | None:
            return None if self._at_clause() else super()._parse_table_alias(alias_tokens)

        def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            table: exp.Expr | None = super()._parse_table(*args, **kwargs)
            while table is not None and self._at_clause():
                self._parse_clause(table)
                if not table.args.get("alias") and (alias := self._parse_table_alias(self.TABLE_ALIAS_TOKENS)):
                    table.set("alias", alias)
            return table

        def _parse_clause(self, table: exp.Expr) -> None:
            word = self._curr
            name = PARTITION if word.token_type == TokenType.PARTITION_BY else TIME
            self._advance(1 if name == PARTITION else 2)
            if table.args.get(name):
                self.raise_error("the same clause appears twice after a table", word)
            if name == TIME:
                table.set(TIME, self._parse_disjunction() or self.raise_error("expected the event time"))
                if self._match_text_seq("OVER"):
                    table.set(OVER, self._parse_csv(self._parse_disjunction))
            else:
                table.set(PARTITION, self._parse_csv(self._parse_disjunction))


class FlinkWindows(Spark):
    """Flink SQL."""

    to_json_path = SparkWindows.to_json_path

    class Tokenizer(Spark.Tokenizer):
        """Quote strings with single quotes, which double themselves."""

        QUOTES: ClassVar[Any] = ["'"]
        STRING_ESCAPES: ClassVar[Any] = ["'"]
        IDENTIFIERS: ClassVar[Any] = ["`", '"']

    class Parser(_PlainFunctions):
        """Read table functions of windows, whose arguments are tables, descriptors and names."""

        FUNCTION_PARSERS: ClassVar[Any] = {
            **_PlainFunctions.FUNCTION_PARSERS,
            **dict.fromkeys(("TUMBLE", "HOP", "CUMULATE", "SESSION"), lambda self: self._parse_windowing()),
        }

        def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
            is_table = self._curr and self._curr.token_type == TokenType.TABLE
            return self._parse_argument() if is_table else super()._parse_lambda(alias)

        def _parse_windowing(self) -> exp.Expr:
            name = self._tokens[self._index - 2]
            call = exp.Anonymous(this=name.text, expressions=self._parse_csv(self._parse_argument))
            return call.update_positions(name)

        def _parse_argument(self) -> exp.Expr | None:
            if self._next and self._next.token_type == TokenType.FARROW:
                name = self._parse_id_var(any_token=True)
                self._advance()
                return self.expression(exp.Kwarg(this=name, expression=self._parse_argument()))
            if self._curr and self._curr.token_type == TokenType.TABLE:
                self._advance()
                if (table := self._parse_table_parts()) is None:
                    self.raise_error("expected a table")
                if self._match(TokenType.PARTITION_BY):
                    table.set(PARTITION, self._parse_keys())
                return table
            return self._parse_disjunction()

        def _parse_keys(self) -> list[exp.Expr]:
            """Read keys up to the next argument, with or without parentheses."""
            if self._match(TokenType.L_PAREN, advance=False):
                return self._parse_wrapped_csv(self._parse_disjunction)
            keys = [self._parse_key()]
            while self._match(TokenType.COMMA):
                if self._match_text_seq("DESCRIPTOR", advance=False) or self._next.token_type == TokenType.FARROW:
                    self._advance(-1)
                    break
                keys.append(self._parse_key())
            return keys

        def _parse_key(self) -> exp.Expr:
            return self._parse_column() or self.raise_error("expected a key")


DIALECTS: dict[Dialect, Any] = {"spark": SparkWindows, "azure": AzureWindows, "flink": FlinkWindows}


def sqlglot_dialect(dialect: Dialect, *, quotes_names: bool = False) -> Any:
    """Return a dialect as sqlglot knows it. In Spark's, a setting may say that double quotes are around names."""
    return SparkQuotedNames() if quotes_names and dialect == "spark" else DIALECTS[dialect]()
