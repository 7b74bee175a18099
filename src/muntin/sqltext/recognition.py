"""Which dialect a text is in: what only one of them has tells it."""

from __future__ import annotations

import re

from muntin.sqltext.lengths import AZURE_UNITS
from muntin.sqltext.statement import Dialect

# Every alternative matches up to the end of the text where nothing closes it, so that no character is read twice.
_HIDDEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\.?)*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z)"
    r"|\[[^]'\"]*+(?:]|\Z|(?=['\"]))",
    re.DOTALL,
)
_UNIT = "|".join(AZURE_UNITS)
_AZURE = re.compile(
    r"\b(?:Tumbling|Hopping|Sliding|Session|Snapshot)Window\s*\(|\bWindows\s*\(|\bSystem\s*\.\s*(?:Window|Timestamp)\b"
    r"|\bTIMESTAMP\s+BY\b"
    rf"|\b(?:Tumbling|Hopping|Sliding|Session)\s*\(\s*(?:(?:Duration|Timeout)\s*\(|(?:{_UNIT})\s*,)",
    re.IGNORECASE,
)
_FLINK = re.compile(r"\b(?:TUMBLE|HOP|CUMULATE|SESSION|DESCRIPTOR)\s*\(", re.IGNORECASE)


def recognise(text: str) -> Dialect:
    """Return the dialect of a text; what is neither Azure's nor Flink's is Spark's.

    >>> recognise("SELECT COUNT(*) FROM t TIMESTAMP BY ts GROUP BY Tumbling(minute, 5)")
    'azure'
    >>> recognise("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE)")
    'flink'
    """
    bare = _HIDDEN.sub(" ", text)
    return "azure" if _AZURE.search(bare) else "flink" if _FLINK.search(bare) else "spark"
