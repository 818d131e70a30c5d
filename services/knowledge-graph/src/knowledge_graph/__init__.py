"""Entities and relations with provenance, and graph expansion."""
