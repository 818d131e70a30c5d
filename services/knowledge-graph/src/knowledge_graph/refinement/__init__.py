"""Optional refinement of the graph by the configured chat model, within budgets that a workspace sets."""
