"""Compares texts with queries and each other: terms, BM25, wordpieces, near-duplicates. Reads only its own files."""
