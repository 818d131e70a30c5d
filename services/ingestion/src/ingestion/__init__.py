"""Documents: upload, conversion, chunks, embeddings."""
