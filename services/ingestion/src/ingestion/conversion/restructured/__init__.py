"""Reads reStructuredText with docutils."""
