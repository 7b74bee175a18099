"""The input of a query: checked, named, written as recipes, measured; nothing here evaluates."""
