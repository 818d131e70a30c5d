"""The chunk index: BM25 and vectors, fused."""
