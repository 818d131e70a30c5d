"""People's rights to what is known about them: forgetting, export and retention."""
