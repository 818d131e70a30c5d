"""The retrieve subgraph: whether, where and by which words the documents are searched."""
