"""The state of a stream as Arrow batches: a state machine that any store can hold."""
