"""Writes the output of a command to a file or to stdout."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from attractor_client.errors import AttractorError
from attractor_client.output import Output
from attractor_client.rendering import size

Format = TypeVar("Format", bound=StrEnum)
OutputFile = Annotated[Path, typer.Argument(help="Output file; - for stdout.", dir_okay=False, allow_dash=True)]


def format_of(file: Path, chosen: Format | None, by_suffix: Mapping[str, Format]) -> Format:
    """Returns the chosen format, or the one that the file's name ends in. Raises BadParameter."""
    found = chosen or by_suffix.get(file.suffix.lower())
    if found is None:
        raise typer.BadParameter(f"use --format, or name the file {', '.join(by_suffix)}")
    return found


async def write_parts(output: Output, file: Path, parts: AsyncIterator[bytes], **details: StrEnum) -> None:
    """Writes the parts to stdout for `-`, or else to the file, and then shows its size and the details.

    An incomplete file does not replace an older one. Raises AttractorError if the file cannot be written.
    """
    if str(file) == "-":
        async for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return
    unfinished, written = file.with_name(f"{file.name}.part"), 0
    try:
        with unfinished.open("wb") as target:
            async for part in parts:
                written += target.write(part)
        unfinished.replace(file)
    except OSError as error:
        raise AttractorError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    shown = ", ".join([*details.values(), size(written)])
    output.result({"file": file, **details, "bytes": written}, f"{file}: {shown}")
