"""Indexing: from document events to the rows of the index."""
