"""Searches that a team keeps by name."""
