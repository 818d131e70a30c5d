"""Named prompts of a user or a workspace."""
