"""What is made of the candidates of all legs: features, fusion, order. No IO."""
