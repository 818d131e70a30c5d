"""Which stage is worked when: dispatch to workers, recovery of what they lost, metrics."""
