"""The check of citations. Pure: nothing here does IO."""
