"""Compares what the stores hold of each document, and repairs drift."""
