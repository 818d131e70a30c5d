"""Vectors of memories, made in the background."""
