"""The value at any rank of any range of rows, by a wavelet matrix.

The matrix has one level for each bit of the codes, highest bit first. Every level has that bit of all rows, in the
order that the levels before have left them in: stably, those with 0 before those with 1. A query follows its range down
the levels, since the rows of a range that share the upper bits stay neighbours. Bits are packed, with a count of ones
before every word, so that a level takes 3/16 byte a row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.errors import QueryError
from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import longs
from muntin.kernels.protocol import Longs


class Wavelet(NamedTuple):
    """The bits of codes, level by level."""

    words: NDArray[np.uint64]
    """64 bits of a level each."""
    ones: NDArray[np.int32]
    """How many ones of the level lie before each word."""
    zeros: Longs
    """How many rows of the level have a 0."""
    rows: int
    """How many codes there are."""


def wavelet(codes: Longs, distinct: int) -> Wavelet:
    """Build the matrix of codes from 0 to below a number of distinct ones."""
    checked = longs(codes, "codes")
    if len(checked) and not 0 <= int(checked.min()) <= int(checked.max()) < distinct:
        raise QueryError(f"codes go from {checked.min()} to {checked.max()}. Use 0 to {distinct - 1}.")
    if len(checked) >= 2**31:
        raise QueryError(f"{len(checked)} rows are too many for one matrix. Use fewer than {2**31}.")
    words, ones, zeros = _built(checked, max(1, (distinct - 1).bit_length()))
    return Wavelet(words, ones, zeros, len(checked))


def at_rank(matrix: Wavelet, lo: Longs, hi: Longs, rank: Longs) -> Longs:
    """Give the code that stands at a rank, from 0, of each range when its codes are sorted; ranges have such a rank.

    >>> at_rank(wavelet(np.array([3, 0, 2, 2, 1]), 4), np.array([0, 1]), np.array([3, 5]), np.array([1, 3])).tolist()
    [2, 2]
    """
    begins, ends, ranks = longs(lo, "lo"), longs(hi, "hi"), longs(rank, "rank")
    inside = (begins >= 0) & (ends <= matrix.rows) & (ranks >= 0) & (ranks < ends - begins)
    if not inside.all():
        wrong = int(np.argmin(inside))
        raise QueryError(
            f"range {wrong} is [{begins[wrong]}, {ends[wrong]}) of {matrix.rows} rows, in which there is no rank "
            f"{ranks[wrong]}. Use 0 ≤ rank < hi - lo."
        )
    return _at_rank(matrix.words, matrix.ones, matrix.zeros, begins, ends, ranks)  # type: ignore[no-any-return]


@compiled
def _built(codes, levels):  # type: ignore[no-untyped-def]
    rows, width = len(codes), len(codes) // 64 + 1
    words, ones = np.zeros((levels, width), np.uint64), np.zeros((levels, width), np.int32)
    zeros = np.zeros(levels, np.int64)
    now, then = codes.copy(), np.empty_like(codes)
    for level in range(levels):
        bit = levels - 1 - level
        left = right = np.int64(0)
        for row in range(rows):
            right += 1 - ((now[row] >> bit) & 1)
        zeros[level] = right
        for row in range(rows):
            if (now[row] >> bit) & 1:
                words[level, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
                then[right] = now[row]
                right += 1
            else:
                then[left] = now[row]
                left += 1
        for word in range(1, width):
            ones[level, word] = ones[level, word - 1] + _bits(words[level, word - 1])
        now, then = then, now
    return words, ones, zeros


@compiled
def _at_rank(words, ones, zeros, lo, hi, rank):  # type: ignore[no-untyped-def]
    codes = np.empty(len(lo), np.int64)
    for query in range(len(lo)):
        left, right, rest, code = lo[query], hi[query], rank[query], np.int64(0)
        for level in range(len(zeros)):
            before, until = _ones(words, ones, level, left), _ones(words, ones, level, right)
            without = (right - left) - (until - before)
            if rest < without:
                left, right, code = left - before, right - until, 2 * code
            else:
                left, right, code = zeros[level] + before, zeros[level] + until, 2 * code + 1
                rest -= without
        codes[query] = code
    return codes


@compiled
def _ones(words, ones, level, row):  # type: ignore[no-untyped-def]
    """Count the ones of a level before a row."""
    below = (np.uint64(1) << np.uint64(row & 63)) - np.uint64(1)
    return np.int64(ones[level, row >> 6]) + _bits(words[level, row >> 6] & below)


@compiled
def _bits(word):  # type: ignore[no-untyped-def]
    """Count the ones of a word, two bits, four bits and eight bits at a time."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = np.uint64(0x3333333333333333)
    nibbles = (pairs & low) + ((pairs >> np.uint64(2)) & low)
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((octets * np.uint64(0x0101010101010101)) >> np.uint64(56))


def percentiles(matrix: Wavelet, values: NDArray[Any], lo: Longs, hi: Longs, fraction: float) -> NDArray[np.float64]:
    """Give the value at a fraction of each range's sorted values, between two of them in proportion; NaN of nothing.

    Codes are places in the sorted values. The arithmetic is that of Spark's percentile, bit by bit.

    >>> values = np.array([1.0, 2.0, 4.0])
    >>> percentiles(wavelet(np.array([2, 0, 1]), 3), values, np.array([0, 1]), np.array([2, 3]), 0.5).tolist()
    [2.5, 1.5]
    """
    result = np.full(len(lo), np.nan)
    filled = np.flatnonzero(hi > lo)
    begins, ends = lo[filled], hi[filled]
    position = (ends - begins - 1) * float(fraction)
    lower, upper = np.floor(position), np.ceil(position)
    low = values[at_rank(matrix, begins, ends, lower.astype(np.int64))].astype(np.float64)
    between = np.flatnonzero(upper > lower)
    high = values[at_rank(matrix, begins[between], ends[between], upper[between].astype(np.int64))]
    apart = between[high != low[between]]
    high = high[high != low[between]].astype(np.float64)
    with np.errstate(invalid="ignore"):
        low[apart] += (high - low[apart]) * (position[apart] - lower[apart])
    result[filled] = low
    return result
