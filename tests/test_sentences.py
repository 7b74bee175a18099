"""The sentence that helps, out of the texts of Spark 4.3 and its Python workers."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator

import pytest

from muntin.errors import InternalError, QueryError, UnsupportedError
from muntin.sentences import error_of_worker, sentence_of
from muntin.spark.worker_errors import sentence_first, sentence_first_of

TRACE = """Traceback (most recent call last):
  File "/muntin/arrow/frames/user.py", line 118, in _one_by_one
    state, begin, end = step(state, time)
                        ^^^^^^^^^^^^^^^^^
RuntimeError: my own

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/muntin/arrow/frames/user.py", line 120, in _one_by_one
    raise self._raised(stretch, item, error) from error
muntin.errors.QueryError: window 'w' is wrong. Use another."""
QUERY = "[STREAM_FAILED] Query [id = 5-a, runId = 1-b] terminated with exception: "
PLAN = "\n=== Streaming Query ===\nIdentifier: [id = 5-a]\n\nLogical Plan:\nProject\n"
LOST = "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in "


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"An exception was thrown from the Python worker:\n{TRACE}", "window 'w' is wrong. Use another."),
        (
            f"{QUERY}[PYTHON_EXCEPTION] An exception: {TRACE}\n SQLSTATE: 38000{PLAN}",
            "window 'w' is wrong. Use another.",
        ),
        (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File 'a', line 1\n"
            "ZeroDivisionError: division by zero",
            "ZeroDivisionError: division by zero",
        ),
        ("Traceback (most recent call last):\nOverflowError: [ARITHMETIC_OVERFLOW] too long. Cast.", "too long. Cast."),
        (f"{QUERY}[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012 SQLSTATE: XXKST{PLAN}", "Division by zero."),
        (f"{LOST}stage 3.0 (TID 2) (10.0.0.1 executor driver): java.io.IOException: no space\n\tat a.b", "no space"),
        ("An error occurred.\n: a.B\n\tat a.c\nCaused by: java.lang.IllegalStateException: closed\n", "closed"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at end. SQLSTATE: 42601; line 1 pos 3", "Syntax error at end."),
        ("no code at all.", "no code at all."),
    ],
)
def test_the_sentence_of_an_error(text: str, sentence: str) -> None:
    assert sentence_of(text) == sentence_of(ValueError(text)) == sentence


def test_an_error_without_a_text_has_its_name() -> None:
    assert (sentence_of(ValueError("\n")), sentence_of("\n")) == ("ValueError", "an error without a text")


def test_our_own_errors_are_found_in_those_of_spark() -> None:
    found = error_of_worker(RuntimeError(TRACE))
    assert isinstance(found, QueryError)
    assert str(found) == "window 'w' is wrong. Use another."
    for name, kind in {
        "errors.UnsupportedError": UnsupportedError,
        "errors.InternalError": InternalError,
        "changes.DamagedError": QueryError,
    }.items():
        assert type(error_of_worker(RuntimeError(TRACE.replace("errors.QueryError", name)))) is kind
    assert error_of_worker(RuntimeError("muntin.errors.QueryError: not of a worker")) is None
    assert error_of_worker(RuntimeError("Traceback (most recent call last):\n  a\nKeyError: 'k'")) is None


def fail_in_a_step(rows: int) -> Iterator[int]:
    yield rows
    raise QueryError("the column is empty. Use another.")


def fail_in_a_function(rows: int) -> list[int]:
    raise QueryError("the column is empty. Use another.")


@pytest.mark.parametrize(
    "failing", [sentence_first(fail_in_a_step), sentence_first_of(fail_in_a_function)], ids=["step", "function"]
)
def test_a_worker_sends_the_sentence_before_the_traceback(
    failing: Callable[[int], Iterable[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.util import handle_worker_exception

    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
    sent = io.BytesIO()
    with pytest.raises(QueryError) as raised:
        list(failing(1))
    handle_worker_exception(raised.value, sent)
    first, second, *_, last = sent.getvalue()[8:].decode().splitlines()
    assert first == last == "muntin.errors.QueryError: the column is empty. Use another."
    assert second == "Traceback (most recent call last):"
    assert os.environ["SPARK_HIDE_TRACEBACK"] == "1"
