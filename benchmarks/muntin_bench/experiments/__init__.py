"""The experiments: each gives rows for one result file."""
