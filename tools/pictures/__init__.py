"""The pictures of docs/windows.md, drawn from the definitions of the windows."""
