"""Cutty's Algorithm 1 and its functions f_disc in plain Python, repaired and as printed: what the kernels are held to.

Aggregates are texts and combine is concatenation: an aggregate shows its records and their order.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Discretize = Callable[[int], tuple[int, int]]
"""f_disc: how many windows begin with record k, and how many end upon it, which it is no part of."""
Instances = list[tuple[int, int]]


class Marked(NamedTuple):
    """A record with the numbers of the windows that begin and end with it."""

    record: Any
    begins: tuple[int, ...]
    ends: tuple[int, ...]


def count_windows(range_: int, slide: int, until: int | None = None, guarded: bool = True) -> Discretize:
    """Give f_disc of periodic count windows; the print has no guard. Until some record, no window begins in vain."""

    def disc(k: int) -> tuple[int, int]:
        begins = k % slide == 0 and (until is None or k + range_ <= until)
        ends = (k - range_) % slide == 0 and (k >= range_ or not guarded)
        return int(begins), int(ends)

    return disc


def discretized(discs: Sequence[Discretize], records: Iterable[Any]) -> Iterator[Marked]:
    """Number windows in the order of their begins, the first function's first; a last mark has no record."""
    queues: list[deque[int]] = [deque() for _ in discs]
    number = 0
    for k, record in enumerate([*records, None]):
        begins, ends = [], []
        for disc, queue in zip(discs, queues, strict=True):
            begin, end = disc(k)
            ends += [queue.popleft() for _ in range(end)]
            for _ in range(begin if record is not None else 0):
                number += 1
                begins.append(number)
                queue.append(number)
        yield Marked(record, tuple(begins), tuple(ends))


def marked(instances: Instances, records: Sequence[Any]) -> Iterator[Marked]:
    """Mark records with instances [lo, hi), numbered as they are given; a last mark has no record."""
    for k, record in enumerate([*records, None]):
        begins = tuple(number for number, (lo, hi) in enumerate(instances) if lo == k < hi)
        ends = tuple(number for number, (lo, hi) in enumerate(instances) if lo < hi == k)
        yield Marked(record, begins, ends)


class Store:
    """Slices with the ids that closed them."""

    def __init__(self, strictly_later: bool) -> None:
        self.slices: list[tuple[int, str]] = []
        self.strictly_later = strictly_later

    def append(self, id: int, partial: str) -> None:
        self.slices.append((id, partial))

    def merge(self, start: int) -> str:
        """The print leaves open whether the slice with the begin's own id, which lies before it, is taken."""
        return "".join(text for id, text in self.slices if id > start or (id == start and not self.strictly_later))

    def remove_up_to(self, last: int | None) -> None:
        self.slices = [(id, text) for id, text in self.slices if last is not None and id > last]


class Result(NamedTuple):
    """The aggregates by the numbers of their windows, and the stored slices that could be read at each record."""

    aggregates: dict[int, str]
    stored: list[list[str]]

    @property
    def held(self) -> int:
        """Stored slices at once at most."""
        return max(map(len, self.stored))


def algorithm_1(stream: Iterable[Marked], emit_first: bool = True, strictly_later: bool = True) -> Result:
    """Evaluate a marked stream. As printed, slices are removed before the window that ends is emitted."""
    store, partial, begins = Store(strictly_later), "", dict[int, int]()
    result = Result({}, [])
    for i, (record, begun, ended) in enumerate(stream):
        if begun:
            store.append(i, partial)
            partial = ""
        begins |= dict.fromkeys(begun, i)
        oldest = min(begins.values(), default=i)
        result.stored.append([text for id, text in store.slices if id > oldest])
        for window in ended:
            start = begins.pop(window)
            if not emit_first and begins:
                store.remove_up_to(min(begins.values()))
            result.aggregates[window] = store.merge(start) + partial
            if emit_first:
                store.remove_up_to(min(begins.values(), default=None))
        partial += record or ""
    return result


def periodic(range_: int, slide: int, rows: int, cut_off: bool = False) -> Instances:
    """Give the count windows within so many rows; those that would end later are left out, or cut off."""
    last = rows - 1 if cut_off else rows - range_
    return [(begin, min(rows, begin + range_)) for begin in range(0, last + 1, slide)]


def in_order(*queries: Instances) -> Instances:
    """Put the windows of queries in the order of their ends."""
    return sorted((one for query in queries for one in query), key=lambda one: one[1])
