"""Plans to look at: what each kind contains, and text, JSON, Mermaid and HTML that are made of it."""
