"""Kernels over arrays: numpy and Numba only, nothing of Spark.

Rows are sorted by group and time. One kernel finds which rows every instance of a window reads, as ranges [lo, hi)
whose ends never move back; the techniques reduce columns over such ranges. So the structure is known once for all
columns. A technique is one file, and takes any operator of `operators` that it can serve; `catalogue` calls them by
name, or the cheapest, and `muntin.techniques` has what each needs, costs and holds, and who described it first.

| file | technique | needs | operations a slide, worst | many ranges |
|---|---|---|---|---|
| `naive` | every range anew | associative | n - 1 | n - 1 |
| `subtract_on_evict` | one running total; SlickDeque (Inv) for many | invertible | 2 | 2 each |
| `flatfat` | a tree over circular leaves | associative | log n to 2 log n | log n each |
| `bint` | intervals of powers of two | associative | log n, 2 log n | log n each |
| `flatfit` | slots that point past what they cover | associative | 3, n - 1 | at most 3 each |
| `two_stacks` | suffixes and a running total | associative | 3, n - 1 | — |
| `daba` | two stacks turned over little by little | associative | 5, 8 | — |
| `slick_deque` | rows that can still be the result | selective | below 2, n | about 1 each |

`catalogue.slide` answers one range after every value, `slide_many` several, `answer_many` what is due to the queries of
a tree, and `reduce_ranges`, which plans on Spark use, any ranges whose ends never move back. docs/techniques.md shows
them all.

Beside them `spans` finds the rows of instances and `preceding` those that a row looks back on, by two pointers, and
`slices` the slices of rows; `occurrences` counts distinct items by the latest occurrence of each; `sliced` is the
reference for windows from slices by panes, pairs and Cutty. The room `cutty` has Cutty's loop for windows of any kind,
whose ranges may begin before those of windows that ended earlier.
Compiled code checks nothing while it runs: `entrance` checks ranges, sizes, types and shapes before it begins, and
gives values 64 bits.

Unless asked for by name, nothing is ever subtracted from a float, so a long stream cannot drift. Functions are compiled
when first used, and kept on disk beside the package or in the user's cache.
"""
