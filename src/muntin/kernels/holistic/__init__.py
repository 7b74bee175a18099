"""Kernels for aggregates that need all rows of a range: percentiles, modes and distinct counts.

Ranges are [lo, hi) of sorted rows. One wavelet matrix answers any percentile of any range; distinct counts and modes
follow ranges whose ends never move back by two pointers.
"""
