"""Text to terms: the analysis of documents and queries. No IO."""
