"""Limits on expanding an archive, regardless of its headers."""

from __future__ import annotations

from dataclasses import dataclass

PIECE_BYTES = 256 * 1024
ALWAYS_ALLOWED_BYTES = 16 * 1024 * 1024


class ArchiveRefused(Exception):
    """The rest of the archive is rejected. `error` is a stable slug."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error, self.message = error, message


class Damaged(ArchiveRefused):
    def __init__(self) -> None:
        super().__init__("archive-damaged", "the archive is damaged, or its format does not match its name")


class Unreadable(ArchiveRefused):
    def __init__(self, why: str) -> None:
        super().__init__("archive-unreadable", f"the archive could not be read: {why}")


@dataclass(frozen=True)
class ArchiveLimits:
    """`ratio` is expanded bytes per byte of the archive, enforced above 16 MiB. `file_bytes` is per member."""

    files: int
    total_bytes: int
    ratio: int
    file_bytes: int


class Budget:
    """Counts what an archive has used; raises ArchiveRefused beyond its limits."""

    def __init__(self, limits: ArchiveLimits, archive_bytes: int) -> None:
        self.limits = limits
        self.bytes_left = min(limits.total_bytes, max(limits.ratio * archive_bytes, ALWAYS_ALLOWED_BYTES))
        self.files_left = limits.files

    def spend(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise ArchiveRefused("archive-too-large", "the archive expands to more bytes than are accepted")

    def spend_file(self) -> None:
        self.files_left -= 1
        if self.files_left < 0:
            raise ArchiveRefused("archive-too-large", f"the archive has more than {self.limits.files} files")
