"""Ports and adapters for chat, embedding, reranking and entailment models."""
