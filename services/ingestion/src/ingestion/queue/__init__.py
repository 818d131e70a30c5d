"""The queue of stages: dispatch to workers, recovery of lost work, metrics."""
