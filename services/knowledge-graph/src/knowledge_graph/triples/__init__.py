"""Triples that users bring: read, kept as provenance of their own, listed, deleted."""
