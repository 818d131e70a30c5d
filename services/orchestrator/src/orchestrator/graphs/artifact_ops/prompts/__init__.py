"""Prompts of the nodes that write."""
