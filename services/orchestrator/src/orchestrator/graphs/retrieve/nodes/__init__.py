"""The nodes, one per file."""
