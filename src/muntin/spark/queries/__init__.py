"""Many queries over one input: what they have in common is evaluated once."""
