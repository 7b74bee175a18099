"""Errors of Python workers: what they say comes first, and the traceback after it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")


def sentence_first(step: Callable[Given, Iterator[Item]]) -> Callable[Given, Iterator[Item]]:
    """Let errors of a worker's step reach the driver with their message before their traceback.

    PySpark sends the traceback, and below it the message. Without tracebacks it sends the message and its notes, so the
    traceback becomes a note. The worker ends after an error, and its setting with it.
    """

    @wraps(step)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Iterator[Item]:
        with _traceback_as_note():
            yield from step(*args, **kwargs)

    return run


def sentence_first_of(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let errors of a function that returns its result, such as one of `F.udf`, arrive like those of a step."""

    @wraps(function)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with _traceback_as_note():
            return function(*args, **kwargs)

    return run


@contextmanager
def _traceback_as_note() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise
