"""Streams: the watermark, the shapes with their state, checkpoints, progress and sinks."""
