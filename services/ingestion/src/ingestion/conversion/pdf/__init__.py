"""Converts PDF files and images on docling's threaded pipeline, with engines whose weights come in wheels."""
