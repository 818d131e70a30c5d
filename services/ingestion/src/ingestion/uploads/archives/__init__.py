"""Expands archives member by member. Walled processes import this package without the modules of the API."""

from ingestion.uploads.archives.limits import ArchiveLimits

__all__ = ["ArchiveLimits"]
