"""Expands archives member by member. The walled process imports its modules without those of the API."""

from ingestion.uploads.archives.limits import ArchiveLimits

__all__ = ["ArchiveLimits"]
