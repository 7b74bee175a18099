"""SQL that asks for windows: read from text with sqlglot, and written back."""
