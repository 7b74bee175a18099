"""Plans to look at: text, Mermaid, HTML."""
