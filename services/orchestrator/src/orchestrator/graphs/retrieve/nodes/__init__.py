"""The nodes, one a file."""
