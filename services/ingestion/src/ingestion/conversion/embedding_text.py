"""What is embedded of a chunk: the contract's, as retrieval embeds the same texts for other models."""

from contracts.ingestion import embedding_text

__all__ = ["embedding_text"]
