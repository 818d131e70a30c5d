"""Pydantic models of every HTTP body and every event."""
