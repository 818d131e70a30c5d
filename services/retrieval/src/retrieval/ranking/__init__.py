"""Features, fusion and order of the candidates of all legs. No IO."""
