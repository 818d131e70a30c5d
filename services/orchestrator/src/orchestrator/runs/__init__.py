"""Runs: the queue, the worker, and the stream of events of each run."""
