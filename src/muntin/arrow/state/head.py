"""What a bucket of keys keeps beside its segments, and what it was made for."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from muntin.arrow.batches import ColumnLayout
from muntin.arrow.state.terms import Term
from muntin.duration import FOREVER
from muntin.fingerprint import Fingerprint, check_same
from muntin.formats import check_format
from muntin.numbering import Stretches, plain_stretches, read_stretches


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for all buckets and micro-batches; it travels pickled."""

    layout: ColumnLayout
    """Keys and partials of slices."""
    overlap: bool
    """Whether partials may be combined that overlap."""
    fingerprint: Fingerprint
    """What a checkpoint must have been made for."""
    terms: tuple[Term, ...] = ()
    """The windows, unless a registry has them."""


class Segment(NamedTuple):
    """Slices that are kept together."""

    number: int
    first: int
    """When the first slice begins."""
    last: int
    """When the last slice begins."""
    rows: int


@dataclass(frozen=True, slots=True)
class Head:
    """What a bucket keeps beside its segments."""

    fingerprint: Fingerprint
    terms: tuple[Term, ...]
    watermark: int = 0
    """Up to when instances have been given, in microseconds; Spark begins with 0."""
    latest: int = -FOREVER
    """The latest event time that any bucket has got."""
    segments: tuple[Segment, ...] = ()
    following: int = 0
    """The number of the next segment."""
    newest: int = 0
    """The newest change of the registry that has come."""
    missing: Stretches = ()
    """Older changes that have not come yet: where a file system shows files late."""
    latest_rows: int = 0
    """How many slices there were when those that later ones stand for had last been left out, where that is done."""

    def to_json(self) -> str:
        """Write the head as text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.latest_rows:  # other states are written as before
            del plain["latest_rows"]
        own = {
            "fingerprint": self.fingerprint.to_dict(),
            "terms": [term.to_dict() for term in self.terms],
            "missing": plain_stretches(self.missing),
        }
        return json.dumps(plain | own)

    @staticmethod
    def from_json(text: str) -> Head:
        """Read the head back; refuse what another version wrote and this one cannot read."""
        told = json.loads(text)
        check_format(told.get("fingerprint", {}).get("format"), "the checkpoint's columnar state")
        own = {
            "fingerprint": Fingerprint.from_dict(told["fingerprint"]),
            "terms": tuple(map(Term.from_dict, told["terms"])),
            "segments": tuple(Segment(*segment) for segment in told["segments"]),
            "missing": read_stretches(told["missing"]),
        }
        return Head(**(told | own))

    def taken_up(self, job: Any) -> Head:
        """Refuse the head of another query; give windows the numbers that this run knows them by."""
        check_same([self.fingerprint], job.fingerprint)
        return replace(self, terms=job.terms) if job.terms else self
