"""Writes the output of a command to a file or to stdout."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from attractor_client.errors import AttractorError


async def write_parts(file: Path, parts: AsyncIterator[bytes]) -> int:
    """Writes the parts to the file, or to stdout for `-`; returns the number of bytes in the file (0 for stdout).

    An incomplete file does not replace an older one. Raises AttractorError if the file cannot be written.
    """
    written = 0
    if str(file) == "-":
        async for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return written
    unfinished = file.with_name(f"{file.name}.part")
    try:
        with unfinished.open("wb") as target:
            async for part in parts:
                written += target.write(part)
        unfinished.replace(file)
    except OSError as error:
        raise AttractorError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return written
