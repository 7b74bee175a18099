"""One measurement of a calibration."""

from __future__ import annotations

import os
from dataclasses import dataclass

from muntin.plan.physical.prices import Amounts
from muntin_bench.fit import Measured
from muntin_bench.record import Row


@dataclass(frozen=True, slots=True)
class Trial:
    """A query in one shape: its units of work, and the seconds that it took."""

    query: Row
    """What was asked, over what, in which shape."""
    units: Amounts
    seconds: float

    @property
    def measured(self) -> Measured:
        """The units of work with the core-microseconds that they took."""
        return Measured(self.units, self.seconds * (os.cpu_count() or 1) * 1e6)

    @staticmethod
    def from_row(row: Row) -> Trial:
        """Read a trial back from a result file."""
        query = {name: value for name, value in row.items() if name not in ("seconds", "amounts")}
        return Trial(query, row["amounts"], row["seconds"])

    @property
    def row(self) -> Row:
        """What a result file has of it."""
        units = {name: float(f"{value:.4g}") for name, value in self.units.items() if value}
        return {**self.query, "seconds": round(self.seconds, 3), "amounts": units}
