"""Texts as people see them: without the secrets of URLs and options, and with control characters written out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "***"
"""What stands in place of a secret."""

_USER_INFO = re.compile(
    r"(?P<scheme>[A-Za-z0-9+.-]{1,20}):(?P<slashes>//?)"
    r"(?:(?P<info>[^/\s]*)|(?P<odd>[^/@:\s]*:(?!\d{1,5}(?:\D|$))[^\n@]{0,400}))@"
)
"""User info as URLs have it, and with the slashes and blanks of passwords that nobody has quoted."""
_PARAMETER = re.compile(
    r"(?P<name>[?&;](?=[^=&;\s]{0,60}(?:sig|secret|token|passw|credential|key))[^=&;\s]{1,80}=)[^&;\s'\"]+",
    re.IGNORECASE,
)
"""A parameter of a URL that stands for a password, such as the signature of Azure's shared access."""
_SECRET_NAME = re.compile(
    r"secret|passw|pwd|token|credential|signature|jaas|sas(?!l)|^key$|(access|account|api|private|shared)[._-]?key"
    r"|connection[._-]?string|^(auth|authorization|cookie)$",
    re.IGNORECASE,
)
_NO_USER = re.compile(r"file|abfss?|wasbs?", re.IGNORECASE)
"""Schemes without users: what stands before an @ is part of a path, or the name of a container."""


def hide_user_info(text: str) -> str:
    """Return a text whose URLs show no user, password or signature.

    >>> hide_user_info("no folder s3a://user:password@bucket/windows")
    'no folder s3a://***@bucket/windows'
    >>> hide_user_info("https://store/c?sv=1&sig=abc"), hide_user_info("abfss://container@account/windows")
    ('https://store/c?sv=1&sig=***', 'abfss://container@account/windows')
    """
    return _PARAMETER.sub(rf"\g<name>{HIDDEN}", _USER_INFO.sub(_hide, text))


def _hide(url: re.Match[str]) -> str:
    scheme, info = url["scheme"], url["info"]
    is_public = _NO_USER.fullmatch(scheme) and info is not None and ":" not in info
    return url[0] if is_public else f"{scheme}:{url['slashes']}{HIDDEN}@"


def user_infos(text: str) -> Iterator[str]:
    """Yield the user info that `hide_user_info` hides."""
    for url in _USER_INFO.finditer(text):
        if _hide(url) != url[0]:
            yield url["info"] or url["odd"] or ""


def is_secret(name: str) -> bool:
    """Whether an option has a name that stands for a password.

    >>> [is_secret(name) for name in ("fs.s3a.secret.key", "account_key", "sasl.jaas.config", "endpoint_url")]
    [True, True, True, False]
    """
    return bool(_SECRET_NAME.search(name))


def secret_values(options: Any, within: bool = False) -> Iterator[str]:
    """Yield the texts in options that stand below the name of a secret.

    >>> sorted(secret_values({"key": "k", "client": {"region": "r", "aws_session_token": "t"}}))
    ['k', 't']
    """
    match options:
        case Mapping():
            for name, value in options.items():
                yield from secret_values(value, within or is_secret(str(name)))
        case list() | tuple():
            for value in options:
                yield from secret_values(value, within)
        case str() if within and options:
            yield options


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
