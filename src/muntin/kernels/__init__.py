"""Kernels over arrays: numpy and Numba only, nothing of Spark.

Rows are sorted by group and time. One kernel finds which rows every instance of a window reads, as ranges [lo, hi)
whose ends never move back; the others reduce columns over such ranges. So the structure is found once for all columns.

| file | what it does | technique | cost per instance |
|---|---|---|---|
| `spans` | which rows an instance reads | two pointers | amortised O(1) |
| `preceding` | which rows a row looks back on, its ties | two pointers | amortised O(1) |
| `slices` | rows to slices between window edges | next edge remembered | O(1) a row |
| `ranges` | sum, least, greatest, place of the least | direct, or two stacks where ranges overlap | amortised 3 steps |
| `moments` | count, mean, squared deviations (also of pairs) | two stacks with Chan's merge | amortised 3 merges |
| `longs` | 64- and 128-bit sums that notice overflow | direct, or two stacks where ranges overlap | amortised 3 steps |

Nothing is ever subtracted from a float, so a long stream cannot drift. Functions are compiled when first used, and kept
on disk beside the package or in the user's cache.
"""
