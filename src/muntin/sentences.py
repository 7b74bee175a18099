"""The sentence of an error that helps: Spark and its Python workers put it among codes and traces."""

from __future__ import annotations

import re

from muntin.errors import InternalError, MuntinError, QueryError, UnsupportedError
from muntin.safe_text import hide_user_info

_CLASS = r"(Caused by: )?([a-z]\w*\.)+[A-Z]\w*(Exception|Error): "
_CAUSE = re.compile(rf"^{_CLASS}")
_BEFORE = re.compile(
    rf"^({_CLASS}"
    r"|([A-Z]\w*Error: )?\[[A-Z_.0-9]+\]\s*"
    r"|Query \[id = [^]]*\] terminated with exception: "
    r"|Job aborted due to stage failure: .*?\(TID \d+\) \([^)]*\): )+"
)
"""What stands before the sentence: classes of errors, codes, and where it happened."""
_AFTER = "SQLSTATE: "
_OWN = re.compile(r"^muntin\.(?:\w+\.)*(\w+Error): ")
_TRACEBACK = "Traceback (most recent call last):"
_JVM = "JVM stacktrace"


def sentence_of(error: BaseException | str) -> str:
    r"""Return the line of an error that says what is wrong, without codes, passwords and traces of Java and Python.

    >>> sentence_of(ValueError("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\nJVM stacktrace: …"))
    'Division by zero.'
    >>> sentence_of("Traceback (most recent call last):\n  File 'a.py'\nmuntin.errors.QueryError: no time. Use one.")
    'no time. Use one.'
    """
    text = str(error)
    lines = [line.strip() for line in text.split(_JVM)[0].splitlines() if line.strip()]
    causes = [line for line in lines if _CAUSE.match(line)]
    line = _python_line(text) or (causes or lines[:1] or [""])[-1]
    sentence = _BEFORE.sub("", line).partition(_AFTER)[0].rstrip().rstrip(" ;")
    return hide_user_info(sentence) or (
        type(error).__name__ if isinstance(error, BaseException) else "an error without a text"
    )


def error_of_worker(error: BaseException) -> MuntinError | None:
    """Return the error of Muntin that a Python worker raised, and Spark reports; None if it is another."""
    line = _python_line(str(error))
    if (own := _OWN.match(line)) is None:
        return None
    kind = {"InternalError": InternalError, "UnsupportedError": UnsupportedError}.get(own[1], QueryError)
    return kind(line[own.end() :])


def _python_line(text: str) -> str:
    """Return the line below the last traceback of Python, which names the error; '' if there is none."""
    _, found, after = text.split(_JVM)[0].rpartition(_TRACEBACK)
    return next((line for line in after.splitlines() if found and line.strip() and not line.startswith(" ")), "")
