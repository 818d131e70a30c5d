"""Prompts under a name, of a user or of a workspace."""
