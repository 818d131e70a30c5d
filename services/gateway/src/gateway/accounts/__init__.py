"""Users, workspaces, members, API keys, and the deletion of workspaces."""
