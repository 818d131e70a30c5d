"""Meaning: the vectors of queries, and their nearest neighbours."""
