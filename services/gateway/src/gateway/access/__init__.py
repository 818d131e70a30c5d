"""Admission: API keys, rate limits."""
