"""mt.join: pairs of rows of two inputs that are near each other in time, and aggregates of such pairs."""
