"""Sessions, messages, runs and every LangGraph graph."""
