"""Opens a text in the user's editor, without ever losing what was typed."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import typer

DEFAULT_EDITOR = "notepad" if os.name == "nt" else "vi"


class EditedFile:
    """A temporary file with a text; line endings are preserved."""

    def __init__(self, text: str, suffix: str) -> None:
        descriptor, name = tempfile.mkstemp(prefix="attractor-", suffix=suffix)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
        self.path = Path(name)

    def edit(self) -> str:
        """Opens $VISUAL or $EDITOR, waits for it to exit, and returns the file's text. Raises BadParameter."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or DEFAULT_EDITOR
        try:
            subprocess.run([*shlex.split(editor, posix=os.name != "nt"), str(self.path)], check=True)
            return self.path.read_bytes().decode()
        except (OSError, subprocess.CalledProcessError) as error:
            raise typer.BadParameter(f"the editor {editor!r} failed ({error}); set VISUAL or EDITOR") from error
        except UnicodeDecodeError as error:
            raise typer.BadParameter(f"the text in {self.path} is not UTF-8") from error

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def changed_span(before: str, after: str) -> tuple[int, int, str]:
    """Returns the smallest span that contains all changes, and its new text."""
    head = _same(before, after)
    tail = _same(before[head:][::-1], after[head:][::-1])
    return head, len(before) - tail, after[head : len(after) - tail]


def _same(one: str, other: str) -> int:
    """Returns the length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
