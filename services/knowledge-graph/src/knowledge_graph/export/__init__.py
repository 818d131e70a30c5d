"""The whole graph as a file."""
