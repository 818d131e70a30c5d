"""Forwards requests to services, and their responses to callers."""
