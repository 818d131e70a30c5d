"""Conversations of other places, taken in."""
