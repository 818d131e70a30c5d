"""Read-only snapshots of sessions for others."""
