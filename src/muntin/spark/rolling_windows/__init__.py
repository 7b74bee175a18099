"""Rolling windows: for every event, aggregates over what came before it."""
