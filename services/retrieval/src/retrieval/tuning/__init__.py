"""How a workspace is searched where a request does not say, and what its questions say about that."""
