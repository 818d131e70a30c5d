"""The search settings of workspaces."""
