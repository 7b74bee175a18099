"""The forest: which window reads which, and the algorithms that choose it."""
