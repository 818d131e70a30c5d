"""Settings of users and workspaces: how answers are written, models by role, and their providers with sealed keys."""
