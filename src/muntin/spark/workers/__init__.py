"""The way to Python workers and back: what goes, in which order, and who takes it."""
