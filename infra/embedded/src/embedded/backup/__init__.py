"""Backups of an installation, and its restore to a moment, on PostgreSQL's own tools."""
