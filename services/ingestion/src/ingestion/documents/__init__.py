"""Documents: their versions, stages, origins and deletions, and the intake of files."""
