from __future__ import annotations

import pytest

from muntin.arrow.batches import Rows
from muntin.arrow.reducers import Arrays


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the numbers of rows that tasks in this process work on at once, as they do."""
    lengths: list[int] = []
    lifted = Rows.lifted

    def watched(rows: Rows) -> list[Arrays]:
        lengths.append(len(rows.time))
        return lifted(rows)

    monkeypatch.setattr(Rows, "lifted", watched)
    return lengths
