"""The LangGraph graphs, one folder each."""
