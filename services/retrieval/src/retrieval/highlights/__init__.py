"""The sentences of a hit that answer the query."""
