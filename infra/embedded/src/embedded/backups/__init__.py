"""Backup and restore of the embedded stack, by the library `backup`."""
