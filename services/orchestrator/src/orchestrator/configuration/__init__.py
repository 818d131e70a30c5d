"""What users and workspaces set: how answers are written, models by role, and their providers with sealed keys."""
