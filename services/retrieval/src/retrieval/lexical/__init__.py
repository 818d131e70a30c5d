"""Words: how text becomes terms, how terms are kept, and BM25 over them."""
