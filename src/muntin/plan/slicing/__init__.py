"""Slices: the grids that windows lie on, and what they cost."""
