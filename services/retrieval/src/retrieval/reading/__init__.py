"""Reading the index: one snapshot of a workspace, and what every leg of a search shares."""
