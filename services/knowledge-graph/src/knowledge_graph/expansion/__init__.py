"""Expands a question, or names, to chunks: linking, hops over relations, bridges over mentions."""
