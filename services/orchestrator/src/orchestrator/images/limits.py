"""The limits of one image, and what its process reports. Imports nothing, because the process loads it, too."""

from __future__ import annotations

from dataclasses import dataclass

TOO_LARGE, NOT_READ, MISLABELLED = "too-large", "not-read", "mislabelled"


@dataclass(frozen=True)
class ImageLimits:
    """`side` limits the longer side of the kept image, `pixels` the decoded pixels, `output_bytes` the re-encoded file.

    At most `at_once` images are decoded at a time.
    """

    seconds: float = 20.0
    memory_bytes: int = 768 << 20
    pixels: int = 50_000_000
    side: int = 2_048
    output_bytes: int = 32 << 20
    at_once: int = 1
