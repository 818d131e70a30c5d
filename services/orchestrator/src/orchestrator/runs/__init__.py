"""Runs: the queue, the worker that works it off, and the stream of events of each run."""
