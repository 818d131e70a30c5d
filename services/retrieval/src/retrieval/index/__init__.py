"""Writing: from the events of documents to the rows of the index."""
