"""Keeps a projection of the graph in another store in step with the tables."""
