"""Searches over the graph, level by level, the same for every store."""
