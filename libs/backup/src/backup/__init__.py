"""Backups of an installation and point-in-time restore, using PostgreSQL's own tools."""
