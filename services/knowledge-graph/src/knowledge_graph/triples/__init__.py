"""Triples that users import: parsed, stored as provenance of their own, listed, deleted."""
