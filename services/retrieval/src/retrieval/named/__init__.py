"""The leg of named documents: chunks of documents that the query calls by a designator."""
