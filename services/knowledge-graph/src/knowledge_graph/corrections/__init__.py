"""Corrections that users make: facts, names, types."""
