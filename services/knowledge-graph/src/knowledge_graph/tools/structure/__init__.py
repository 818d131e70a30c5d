"""Structural questions in English and German, and their answers in words."""
