"""Uploads: files and archives that callers send."""
