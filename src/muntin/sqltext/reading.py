"""Text to statements: dialects recognised, statements told apart and named, and every SELECT over windows read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from muntin.errors import QueryError
from muntin.sqltext.azure_words import in_words_of_spark
from muntin.sqltext.dialects import sqlglot_dialect
from muntin.sqltext.inputs import Steps
from muntin.sqltext.pointing import Refused, Source, Wrong, did_you_mean, point
from muntin.sqltext.recognition import recognise
from muntin.sqltext.selecting import read_query
from muntin.sqltext.statement import Boundaries, Dialect, Statement

LONGEST_TEXT = 250_000
"""How many characters are read."""
MOST = 500
"""How many statements are read."""
MOST_TOKENS = 50_000
"""How many words, literals and signs are read: five characters each in the longest text."""
DEEPEST = 50
"""How many brackets may stand within one another."""

_NAME = re.compile(r"--[ \t]*name[ \t]*:[ \t]*+([^\r\n]*\S)", re.IGNORECASE)
_BEGINS = ("SELECT", "WITH", "FROM", "TABLE", "VALUES", "MAP", "REDUCE", "(")
"""What a query of Spark begins with."""
_SETS = (TokenType.UNION, TokenType.ALL, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.DISTINCT)


def read(text: str, dialect: Dialect | None = None, boundaries: Boundaries | None = None) -> tuple[Statement, ...]:
    """Read statements from text; the dialect is recognised where none is given.

    Errors are QueryError or UnsupportedError, and show the place in the text.

    >>> (statement,) = read("SELECT k, count(*) AS n FROM t GROUP BY k, window(ts, '10 minutes')")
    >>> statement.selects[0].windows[0].label, statement.selects[0].keys, statement.selects[0].calls[0].function
    ('10m', ('`k`',), 'count')
    """
    statements = read_for_spark(text, dialect, boundaries)
    for statement in statements:
        if statement.error is not None:
            raise statement.error
    return statements


def read_for_spark(
    text: str, dialect: Dialect | None, boundaries: Boundaries | None, *, quotes_names: bool = False
) -> tuple[Statement, ...]:
    """Read statements as `read` does; one in Spark's own words that cannot be read here has its error with it.

    A session may take what is in double quotes for a name, in Spark's dialect.
    """
    if not isinstance(text, str):
        raise QueryError(f"{text!r} is no text of SQL. Give a string.")
    _check("dialect", dialect, get_args(Dialect))
    _check("boundaries", boundaries, get_args(Boundaries))
    if len(text) > LONGEST_TEXT:
        raise QueryError(f"the text has {len(text):,} characters. Use at most {LONGEST_TEXT:,}, in several calls.")
    if text.startswith("\ufeff"):
        text = " " + text[1:]  # files of some editors begin so
    spoken: Dialect = dialect or recognise(text)
    try:
        statements = tuple(_statements(text, spoken, boundaries, quotes_names))
    except RecursionError:
        raise QueryError("the text is nested too deeply to be read. Use WITH steps instead of brackets.") from None
    if not statements:
        raise QueryError("the text has no statement. Write a SELECT.")
    return _named_apart(statements)


def _check(what: str, given: object, known: tuple[str, ...]) -> None:
    if given is not None and given not in known:
        choices = ", ".join(map(repr, known))
        raise QueryError(f"{what} {given!r} is not known.{did_you_mean(str(given), known)} Use one of {choices}.")


def _statements(text: str, dialect: Dialect, boundaries: Boundaries | None, quotes_names: bool) -> Iterator[Statement]:
    words = sqlglot_dialect(dialect, quotes_names=quotes_names)
    steps, before = Steps(dialect), 0
    views: dict[str, tuple[str, str]] = {}
    for number, tokens in enumerate(_chunks(text, dialect, words), start=1):
        if number > MOST:
            raise QueryError(point(text, tokens[0].start, f"more than {MOST} statements stand in one text."))
        start, end = tokens[0].start, tokens[-1].end + 1
        source = Source(text, start)
        comment = _NAME.findall(text, before, start)
        before = end
        try:
            tree, view = _query(_tree(tokens, text, dialect, words), source)
            name = comment[-1] if comment else view or _into(tree, dialect) or f"query {number}"
            body = text[_body(tokens, bool(view)) : end]
            yield read_query(tree, name, dialect, text[start:end], body, steps, views, boundaries)
        except Refused as refused:
            error = source.error(refused)
            if dialect != "spark" or isinstance(refused, Wrong) or tokens[0].text.upper() not in _BEGINS:
                raise error from None
            name, own = comment[-1] if comment else f"query {number}", text[start:end]
            yield Statement(name, dialect, own, (), own, "only Spark can read it", error=error)
            continue
        if view:
            steps.add(view, tree)
            views[view.casefold()] = view, body


def _chunks(text: str, dialect: Dialect, words: Any) -> Iterator[list[Token]]:
    """Yield the tokens of every statement; in Azure, a further SELECT begins one as well."""
    try:
        tokens = words.tokenize(text)
    except SqlglotError as error:
        raise QueryError(point(text, *_token_error(text, error))) from None
    if len(tokens) > MOST_TOKENS:
        raise QueryError(
            f"the text has {len(tokens):,} words and signs. Use at most {MOST_TOKENS:,}, in several calls; "
            "join a table of values instead of a long list."
        )
    chunk: list[Token] = []
    depth, selects = 0, 0
    for token in tokens:
        kind = token.token_type
        depth += (kind in (TokenType.L_PAREN, TokenType.L_BRACKET)) - (kind in (TokenType.R_PAREN, TokenType.R_BRACKET))
        if depth > DEEPEST:
            raise QueryError(point(text, token.start, f"more than {DEEPEST} brackets stand within one another."))
        again = dialect == "azure" and depth == 0 and kind == TokenType.SELECT
        if kind == TokenType.SEMICOLON or (again and selects and chunk[-1].token_type not in _SETS):
            if chunk:
                yield chunk
            chunk, depth, selects = [], 0, 0
        if kind != TokenType.SEMICOLON:
            chunk.append(token)
            selects += again
    if chunk:
        yield chunk


def _token_error(text: str, error: SqlglotError) -> tuple[int, str]:
    """Tell where a quote was not closed: the last one that opens."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    missing = re.match(r"Missing (\S+) from", str(cause))
    if missing is None:
        return 0, "this text has a character that is not read here."
    quote = missing[1]
    place = text.rfind({"]": "[", "*/": "/*"}.get(quote, quote))
    return max(place, 0), f"a closing {quote} is missing."


def _tree(tokens: list[Token], text: str, dialect: Dialect, words: Any) -> exp.Expr:
    parser = words.parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        tree = parser.parse(tokens, text)[0]
    except SqlglotError as error:
        if near := _misspelt(tokens[0]):
            raise Refused(tokens[0].start, f"a SELECT is expected here.{near}") from None
        details = (getattr(error, "errors", None) or [{}])[0]
        message = _told(str(details.get("description") or error))
        raise Refused(details.get("start", tokens[0].start), message) from None
    except (RecursionError, Refused):
        raise
    except Exception as error:
        raise Refused(tokens[0].start, "this statement cannot be read.") from error
    if tree is None:
        raise Refused(tokens[0].start, "a SELECT is expected here.")
    return in_words_of_spark(tree) if dialect == "azure" else tree


def _misspelt(first: Token) -> str:
    """Say what the first word of a statement may have been meant to be."""
    return did_you_mean(first.text, ("SELECT", "WITH", "CREATE")) if first.token_type == TokenType.VAR else ""


def _told(message: str) -> str:
    """Say in plain words what the parser says."""
    if message.startswith("Invalid expression"):
        return "this was not expected here."
    return f"{message[:1].lower()}{message[1:].rstrip('.')}."


def _query(tree: exp.Expr, source: Source) -> tuple[exp.Expr, str]:
    """Give the query of a statement, and its name if it is a view."""
    if isinstance(tree, exp.Create):
        query, target = tree.expression, tree.this
        if tree.kind != "VIEW" or not isinstance(query, exp.Query):
            raise Refused(source.start, "of statements that make something, only CREATE VIEW name AS SELECT is read.")
        if not isinstance(target, exp.Table):
            raise Refused(source.start, "a view does not rename its columns here. Use AS in its SELECT.")
        return query, target.name
    if not isinstance(tree, exp.Query):
        raise Refused(source.start, "a SELECT is expected here: nothing else is run.")
    return tree, ""


def _into(tree: exp.Expr, dialect: Dialect) -> str:
    """Give the name that INTO gives, and take it away."""
    name = ""
    for into in list(tree.find_all(exp.Into)):
        if dialect != "azure":
            raise Refused(into, "INTO is not known here. Name a statement with -- name: … before it.")
        name = name or into.this.name
        into.pop()
    return name


def _body(tokens: list[Token], is_view: bool) -> int:
    """Give where the query of a statement starts: after AS in a view."""
    if not is_view:
        return tokens[0].start
    place = next((place for place, token in enumerate(tokens[:-1]) if token.token_type == TokenType.ALIAS), None)
    if place is None:
        raise Refused(tokens[0].start, "a view lacks AS before its query. Write CREATE VIEW name AS SELECT.")
    return tokens[place + 1].start


def _named_apart(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    names: set[str] = set()
    for statement in statements:
        if statement.name.casefold() in names:
            raise QueryError(f"two statements are called {statement.name!r}. Give each a name of its own.")
        names.add(statement.name.casefold())
    return statements
