"""Documents: their versions, stages, origins, deletions, and the intake of files."""
