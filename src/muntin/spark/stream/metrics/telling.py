"""What is logged of running queries: starts and ends, every micro-batch, and what somebody should look at."""

from __future__ import annotations

import logging

from muntin.spark.stream.progress import Progress

log = logging.getLogger("muntin.spark.stream")


def log_start(query: str) -> None:
    """Say that a query runs."""
    log.info("query %s runs", query)


def log_batch(query: str, batch: int, one: Progress, change: int | None = None) -> None:
    """Say what a micro-batch did, and warn, once each, of late rows, rows ahead of the clock and damaged changes.

    The change is the newest one of a registry that earlier micro-batches had taken up.
    """
    log.info("query %s, micro-batch %d: %s", query, batch, one.figures)
    if one.change is not None and one.change > (change or 0):
        log.info("query %s, micro-batch %d: windows are those of change %d of the registry", query, batch, one.change)
    if one.late:
        log.warning("query %s, micro-batch %d: %s came too late", query, batch, _late(one))
    if one.future:
        log.warning("query %s, micro-batch %d: set aside %d rows ahead of the clock", query, batch, one.future)
    if one.damaged:
        log.warning("query %s, micro-batch %d: skipped %d damaged changes of the registry", query, batch, one.damaged)


def log_note(query: str, note: str) -> None:
    """Warn of what is probably not meant, if there is such."""
    if note:
        log.warning("query %s is %s", query, note)


def log_end(query: str, error: str | None) -> None:
    """Say that a query has ended, and by which error."""
    if error:
        log.error("query %s failed: %s", query, error)
    else:
        log.info("query %s has ended", query)


def _late(one: Progress) -> str:
    """Say how many rows were late, and for which windows."""
    if one.missed is None:
        return f"{one.late_groups} groups of rows"
    windows = ", ".join(f"{rows} for {window!r}" for window, rows in one.late_rows if rows)
    return f"{one.late} rows ({windows}; {one.missed} for all windows)"
