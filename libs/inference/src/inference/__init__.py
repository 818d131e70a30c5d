"""Ports and adapters for chat models and embeddings."""
