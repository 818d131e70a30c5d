"""Archives, taken apart member by member. The modules of the walled process are imported here without the API's."""

from ingestion.uploads.archives.limits import ArchiveLimits

__all__ = ["ArchiveLimits"]
