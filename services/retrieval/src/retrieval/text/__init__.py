"""The query language. No IO."""
