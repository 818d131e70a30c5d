"""Archives, taken apart member by member."""

from ingestion.uploads.archives.expansion import ArchiveKind, Member, archive_kind, expanded
from ingestion.uploads.archives.limits import ArchiveLimits

__all__ = ["ArchiveKind", "ArchiveLimits", "Member", "archive_kind", "expanded"]
