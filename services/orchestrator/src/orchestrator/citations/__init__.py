"""Checks citations. Pure: nothing here does IO."""
