"""Searches over the graph, level by level, the same over every store."""
