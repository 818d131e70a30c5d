"""One search, from the request to its hits."""
