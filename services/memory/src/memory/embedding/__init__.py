"""Embedding of memories in the background."""
