"""The retrieve subgraph: decides whether, where and with which query the documents are searched."""
