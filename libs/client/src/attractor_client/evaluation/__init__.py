"""Measures the quality and speed of a running service's search, and compares two measurements."""
