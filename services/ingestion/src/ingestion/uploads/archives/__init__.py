"""Archives, taken apart member by member."""

from ingestion.uploads.archives.expansion import ArchiveKind, ArchiveMember, archive_kind, expanded
from ingestion.uploads.archives.limits import ArchiveLimits

__all__ = ["ArchiveKind", "ArchiveLimits", "ArchiveMember", "archive_kind", "expanded"]
