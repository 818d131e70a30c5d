"""Reasons why a file cannot be converted. `error_class` is a stable slug; the message is for users."""

from __future__ import annotations

from typing import ClassVar


class ConversionError(Exception):
    """The conversion failed; subclasses name the usual reasons."""

    error_class: ClassVar[str] = "conversion-failed"


class PasswordProtected(ConversionError):
    """The file is encrypted and needs a password."""

    error_class = "password-protected"


class CorruptFile(ConversionError):
    """The file is damaged, truncated, or not of the format that its name says."""

    error_class = "corrupt-file"


class EmptyDocument(ConversionError):
    """No text was found."""

    error_class = "empty-document"


class UnsupportedFormat(ConversionError):
    """The format is not supported."""

    error_class = "unsupported-format"


class InputTooLarge(ConversionError):
    """The file is larger than allowed."""

    error_class = "input-too-large"


class TimeLimitExceeded(ConversionError):
    """The conversion took longer than allowed and was stopped."""

    error_class = "time-limit-exceeded"


class MemoryLimitExceeded(ConversionError):
    """The conversion used more memory than allowed and was stopped."""

    error_class = "memory-limit-exceeded"


class PageLimitExceeded(ConversionError):
    """The document has more pages than allowed."""

    error_class = "page-limit-exceeded"


class OutputTooLarge(ConversionError):
    """The conversion wrote more data than any document needs."""

    error_class = "output-too-large"


class DiskFull(ConversionError):
    """There is no space left for the conversion's files. A retry may succeed."""

    error_class = "disk-full"


class WorkerDied(ConversionError):
    """The conversion process ended without a result. A retry may succeed."""

    error_class = "worker-died"


_BY_SLUG: dict[str, type[ConversionError]] = {kind.error_class: kind for kind in ConversionError.__subclasses__()}


ERROR_CLASSES = (ConversionError.error_class, *_BY_SLUG)
"""All slugs"""


def conversion_error(error_class: str, message: str) -> ConversionError:
    """Returns the error with this slug, or a plain ConversionError for an unknown slug."""
    return _BY_SLUG.get(error_class, ConversionError)(message)
