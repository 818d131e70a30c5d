"""Every LangGraph graph, a folder each."""
