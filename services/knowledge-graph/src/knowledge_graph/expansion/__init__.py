"""From a question, or from names, to chunks: linking, hops over relations, bridges over mentions."""
