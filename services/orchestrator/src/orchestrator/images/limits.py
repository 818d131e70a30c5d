"""What one image may take, and what its process says of itself. Imports nothing: the process loads it, too."""

from __future__ import annotations

from dataclasses import dataclass

PIECE_BYTES = 1 << 20
TOO_LARGE, NOT_READ, MISLABELLED = "too-large", "not-read", "mislabelled"


@dataclass(frozen=True)
class ImageLimits:
    """`side` is the longer side of what is kept, `pixels` what may be decoded at most, `output_bytes` what it
    may become.

    At most `at_once` images are decoded at a time.
    """

    seconds: float = 20.0
    memory_bytes: int = 768 << 20
    pixels: int = 50_000_000
    side: int = 2_048
    output_bytes: int = 32 << 20
    at_once: int = 1
