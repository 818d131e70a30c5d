"""The container `backup` of Compose: receives the log, takes a backup each night, and restores into empty volumes."""
