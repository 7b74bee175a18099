"""FlatFAT: a binary tree over circular leaves, in one array."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import (
    answers,
    bare,
    capacity,
    combine,
    commutes,
    end,
    load,
    mark,
    room,
    start,
    store,
    widest,
)


@compiled
def flatfat(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Renew the path above every new leaf, and ask for the range of live leaves: O(log n).

    The tree doubles when it is full and halves when a third of it is left. The root is the answer only if all leaves
    live and the order does not matter: once the leaves go round, the root has them in another order than time.
    Returns the partials held at most.
    """
    core = bare(op)
    leaves, most = 1, 2
    tree = room(values, 2)
    first_slot = count = np.int64(0)
    left = np.int64(0)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        if first >= left + count:
            left, first_slot, count = first, np.int64(0), np.int64(0)
        gone = first - left
        left, count, first_slot = first, count - gone, (first_slot + gone) & (leaves - 1)
        fit = fitting(leaves, last - left)
        if fit != leaves:
            tree = moved(core, tree, leaves, first_slot, count, fit)
            leaves, first_slot, most = fit, np.int64(0), max(most, 2 * fit)
        while left + count < last:
            put(core, tree, leaves, (first_slot + count) & (leaves - 1), load(core, values, left + count))
            count += 1
        if first < last:
            store(core, out, k, between(core, tree, leaves, first_slot, count))
        mark(op, k)
    return most


@compiled
def fitting(leaves, count):  # type: ignore[no-untyped-def]
    """Give the size of the tree for so many live leaves: doubled when they are more, halved when a third are left."""
    while leaves < count:
        leaves *= 2
    while leaves > 1 and 3 * count <= leaves:
        leaves //= 2
    return leaves


@compiled
def flatfat_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Renew one path a slide, and give every answer by itself: O(log n) each."""
    core = bare(op)
    leaves = capacity(widest(asked))
    tree = room(values, 2 * leaves)
    for k in range(len(values)):
        put(core, tree, leaves, k & (leaves - 1), load(core, values, k))
        first, last = answers(asked, k)
        for answer in range(first, last):
            begin = start(asked, k, answer)
            store(core, out, answer, between(core, tree, leaves, begin & (leaves - 1), k + 1 - begin))
        mark(op, k)
    return 2 * leaves


@compiled
def put(op, tree, leaves, slot, partial):  # type: ignore[no-untyped-def]
    """Write a leaf, and renew the path above it."""
    node = leaves + slot
    store(op, tree, node, partial)
    while node > 1:
        node >>= 1
        store(op, tree, node, combine(op, load(op, tree, 2 * node), load(op, tree, 2 * node + 1)))


@compiled
def moved(op, tree, leaves, first_slot, count, larger):  # type: ignore[no-untyped-def]
    """Give a tree of another size with the same live leaves, from its first slot on."""
    moved = room(tree, 2 * larger)
    for place in range(count):
        store(op, moved, larger + place, load(op, tree, leaves + ((first_slot + place) & (leaves - 1))))
    for node in range(larger - 1, 0, -1):
        store(op, moved, node, combine(op, load(op, moved, 2 * node), load(op, moved, 2 * node + 1)))
    return moved


@compiled
def between(op, tree, leaves, slot, count):  # type: ignore[no-untyped-def]
    """Combine leaves from a slot on, in order of time: up to the end of the array, then from its begin."""
    if count == leaves and (slot == 0 or commutes(op)):
        return load(op, tree, 1)
    until = slot + count
    if until <= leaves:
        return _straight(op, tree, leaves + slot, leaves + until)
    early = _straight(op, tree, leaves + slot, 2 * leaves)
    return combine(op, early, _straight(op, tree, leaves, until))


@compiled
def _straight(op, tree, left, right):  # type: ignore[no-untyped-def]
    """Combine the nodes that cover leaves left to right, from the bottom up."""
    begun = ended = False
    head = tail = load(op, tree, left)
    while left < right:
        if left & 1:
            head = combine(op, head, load(op, tree, left)) if begun else load(op, tree, left)
            begun = True
            left += 1
        if right & 1:
            right -= 1
            tail = combine(op, load(op, tree, right), tail) if ended else load(op, tree, right)
            ended = True
        left >>= 1
        right >>= 1
    if begun and ended:
        return combine(op, head, tail)
    return head if begun else tail
