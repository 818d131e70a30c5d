"""Vectors of texts, for clients of the OpenAI API."""
