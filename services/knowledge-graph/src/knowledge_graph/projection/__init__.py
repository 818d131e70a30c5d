"""Keeps a projection of the graph in another store up to date with the tables."""
