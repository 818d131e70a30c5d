"""Ports and adapters for chat models, embeddings and rerankers."""
