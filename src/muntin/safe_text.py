"""Texts as people see them: without the secrets of URLs and options, and with control characters written out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "***"
"""What stands in place of a secret."""

_LONGEST_INFO = 1_000
"""How many characters of user info are looked at: a limit for what a hostile text costs."""
_LONGEST_WITH_BLANKS = 400
"""How many characters of it may have blanks and lines in between."""
_START = re.compile(
    r"(?P<scheme>[A-Za-z0-9+.-]{1,20}):(?P<slashes>//?)|jdbc:oracle:\w{1,20}:(?=[^@\s/]{1,200}/)", re.IGNORECASE
)
"""What stands before user info: in URLs, and in those of Oracle's databases, which have a user, a slash, a password."""
_AUTHORITY = re.compile(r"[^/\s]*")
_TOKEN = re.compile(r"\S*")
_PORT = re.compile(r"\d{2,5}(?:[/?#\s]|$)")
_ACCESS_KEY = re.compile(r"A[A-Z]{3}[A-Z0-9]{12,}")
"""The name that Amazon gives a secret: what follows it is no port."""
_PARAMETER = re.compile(
    r"(?P<name>[?&;](?=[^=&;\s]{0,60}(?:sig|secret|token|pass|pwd|credential|key))[^=&;\s]{1,80}=)[^&;\s'\"]+",
    re.IGNORECASE,
)
"""A parameter of a URL that stands for a password, such as the signature of Azure's shared access."""
_SECRET_NAME = re.compile(
    r"secret|passw|pass[._-]?(phrase|code)|(?<![a-z])pass(?![a-z])|pwd|token|credential|signature|jaas|sas(?!l)"
    r"|^key$|(?<![a-z])pkey|(access|account|api|private|shared|(key|trust)store|encryption|signing|master)[._-]?key"
    r"|encryption.*[._-]keys?(?![a-z])|connection[._-]?string|^(auth|authorization|cookie)$",
    re.IGNORECASE,
)
_SHORTEST_NUMBER = 4
"""How many digits a secret has that is a number: shorter ones are part of too many texts."""
_NO_USER = re.compile(r"file|abfss?|wasbs?", re.IGNORECASE)
"""Schemes without users: what stands before an @ is part of a path, or the name of a container."""


def hide_user_info(text: str) -> str:
    """Return a text whose URLs show no user, password or signature.

    >>> hide_user_info("no folder s3a://user:password@bucket/windows")
    'no folder s3a://***@bucket/windows'
    >>> hide_user_info("https://store/c?sv=1&sig=abc"), hide_user_info("abfss://container@account/windows")
    ('https://store/c?sv=1&sig=***', 'abfss://container@account/windows')
    """
    return _hide(text, _spans(text))


def hide_beside(text: str, place: int) -> tuple[str, int]:
    """Return a text as `hide_user_info` does, and where a place of it is then.

    >>> hide_beside("csv.`s3a://user:password@bucket/x` WHERE", 35)
    ('csv.`s3a://***@bucket/x` WHERE', 25)
    """
    spans = _spans(text)
    moved = place
    for start, end in spans:
        if start < place:
            moved += len(HIDDEN) - (end - start) if end <= place else start - place
    return _hide(text, spans), moved


def user_infos(text: str) -> Iterator[str]:
    """Yield the user info that `hide_user_info` hides, also without what may belong to the path behind it."""
    for start, end in _user_spans(text):
        yield text[start:end]
        yield text[start:end].partition("@")[0]


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, before = [], 0
    for start, end in spans:
        parts += [text[before:start], HIDDEN]
        before = end
    return "".join([*parts, text[before:]])


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where the secrets of URLs begin and end, in order; none overlaps another."""
    spans: list[tuple[int, int]] = []
    parameters = ((found.end("name"), found.end()) for found in _PARAMETER.finditer(text))
    for start, end in sorted([*_user_spans(text), *parameters]):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _user_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where user info begins and ends; of several ends that it may have, the last within its word."""
    place, last = 0, text.rfind("@")
    while (found := _START.search(text, place)) and found.end() <= last:
        start = place = found.end()
        end = _user_end(text, start, found["scheme"])
        if end >= 0:
            yield start, end
            place = end


def _user_end(text: str, start: int, scheme: str | None) -> int:
    """Return the place of the @ that ends user info; -1 if there is none.

    Passwords that nobody has quoted have slashes, blanks, line feeds and further @. A path may have an @, too. Too much
    is hidden rather than too little, but the port of a host is no password.
    """
    if text.find("@", start, start + _LONGEST_INFO) < 0:
        return -1
    limit = start + _LONGEST_INFO
    authority = _end_of(_AUTHORITY, text, start, limit)
    colon = authority if scheme is None else text.find(":", start, authority)
    has_password = colon >= 0 and (scheme is None or not text[colon + 1 : colon + 2].isspace())
    is_port = has_password and _PORT.match(text, colon + 1) and not _ACCESS_KEY.fullmatch(text, start, colon)
    if has_password and not is_port:
        end = text.rfind("@", colon, _end_of(_TOKEN, text, colon, limit))
        return end if end >= 0 else text.find("@", colon, colon + _LONGEST_WITH_BLANKS)
    end = text.rfind("@", start, authority)
    is_public = scheme is not None and _NO_USER.fullmatch(scheme) and text.find(":", start, end) < 0
    return -1 if is_public else end


def _end_of(pattern: re.Pattern[str], text: str, start: int, limit: int) -> int:
    """Return where what a pattern matches from a place on ends; the place itself, if it does not match."""
    found = pattern.match(text, start, limit)
    return start if found is None else found.end()


def is_secret(name: str) -> bool:
    """Whether an option has a name that stands for a password.

    >>> [is_secret(name) for name in ("fs.s3a.secret.key", "account_key", "sasl.jaas.config", "endpoint_url")]
    [True, True, True, False]
    """
    return bool(_SECRET_NAME.search(name))


def secret_values(options: Any, within: bool = False) -> Iterator[str]:
    """Yield the texts in options that stand below the name of a secret.

    >>> sorted(secret_values({"key": "k", "client": {"region": "r", "aws_session_token": "t", "password": 12345}}))
    ['12345', 'k', 't']
    """
    match options:
        case Mapping():
            for name, value in options.items():
                yield from secret_values(value, within or is_secret(str(name)))
        case list() | tuple() | set() | frozenset():
            for value in options:
                yield from secret_values(value, within)
        case bytes() if within:
            yield from secret_values(options.decode(errors="replace"), within)
        case None | bool():
            return
        case _ if within:
            text = str(options)
            if len(text) >= (1 if isinstance(options, str) else _SHORTEST_NUMBER):
                yield text


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text without user info and without some secrets.

    >>> hide_secrets("no bucket user:password@b, key k3y", ["user:password", "k3y"])
    'no bucket ***@b, key ***'
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return hide_user_info(text)


def safe_cause(error: BaseException, secrets: Iterable[str] = ()) -> BaseException | None:
    """Return an error as the cause of another; None if it, or what caused it, quotes a secret.

    >>> safe_cause(ValueError("no host")), safe_cause(ValueError("no host ftp://user:password@host"))
    (ValueError('no host'), None)
    """
    known, link = tuple(secrets), error
    while link is not None:
        if hide_secrets(str(link), known) != str(link):
            return None
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)  # type: ignore[assignment]
    return error


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text in which nothing moves the cursor or changes colours: such characters are written out.

    >>> escape_controls("a\x1b[31mb\n"), escape_controls("a\x1b[31mb\n", keep="\n")
    ('a\\x1b[31mb\\n', 'a\\x1b[31mb\n')
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else repr(letter)[1:-1] for letter in text)


def escape_json_controls(text: str) -> str:
    r"""Return JSON of the same meaning, in which texts have no characters that a terminal obeys.

    >>> escape_json_controls('["é", "\x9b31m"]')
    '["é", "\\u009b31m"]'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
