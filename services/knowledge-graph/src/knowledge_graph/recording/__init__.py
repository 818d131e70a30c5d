"""Writes a document's rows to the provenance tables, and everything derived from them."""
