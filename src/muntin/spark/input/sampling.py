"""A sample of a stream of files: what has come already tells what will come."""

from __future__ import annotations

from dataclasses import replace

from muntin.plan.physical.stream import ASSUMED
from muntin.plan.statistics import Statistics
from muntin.safe_text import safe_cause
from muntin.sentences import sentence_of
from muntin.spark.input.files import FileSource, file_source, over
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import NO_TIME, SAMPLE, first_rows, measure_extent, of_sample
from muntin.spark.telling import log

FILES = 4
"""Files that are looked into."""


def sampled(source: Source) -> Statistics:
    """Measure a stream on the first rows of its files, through all that is done to its rows; else assume.

    Nothing that goes wrong here is an error: the stream itself will meet it, or not. It is logged.
    """
    try:
        files = file_source(source.events.frame)
        return _sampled(source, files) if files else ASSUMED
    except Exception as error:  # of whatever reader, user function or version of Spark
        reason = sentence_of(error)
        log.warning("figures of a stream are assumed, since its files cannot be sampled: %s", reason)
        log.debug("the error of the sample", exc_info=safe_cause(error))
        return replace(ASSUMED, source=f"{ASSUMED.source}; its files cannot be sampled: {reason}")


def _sampled(source: Source, files: FileSource) -> Statistics:
    spark = source.events.frame.sparkSession
    everything = files.read(spark)
    names = sorted(everything.inputFiles())
    if not names:
        return replace(ASSUMED, source=f"{ASSUMED.source}; no file has come yet")
    opened = names[:FILES]
    first = files.read(spark, opened).limit(SAMPLE)
    sample = first_rows(source.over(over(source.events.frame, first)).events)
    if not len(sample):
        return replace(ASSUMED, source=f"{ASSUMED.source}; the first {SAMPLE:,} rows of its files give none")
    read = SAMPLE if len(sample) == SAMPLE else first.count()
    whole = read * len(names) // len(opened) if read < SAMPLE else measure_extent(everything, NO_TIME, SAMPLE).rows
    origin = f"the first {read:,} rows of {len(names):,} file{'s' if len(names) > 1 else ''}"
    rows = max(len(sample), whole * len(sample) // max(1, read))
    batch = None if files.per_trigger is None else max(1, rows * min(files.per_trigger, len(names)) // len(names))
    return replace(_going_on(of_sample(sample, rows, origin)), batch=batch)


def _going_on(files: Statistics) -> Statistics:
    """Give figures for no less than a million rows: a stream goes on, at the pace of its files."""
    if files.rows >= ASSUMED.rows:
        return files
    times = ASSUMED.rows / files.rows
    keys = files.keys * times if 2 * files.keys >= files.rows else files.keys  # keys that never come again
    return replace(files, rows=ASSUMED.rows, keys=int(keys), span=int(files.span * times))
