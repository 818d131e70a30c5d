"""Structural questions with bounded answers."""
