"""Passwords and keys, generated on first use and stored in one private file."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

_BYTES = 24


class Credentials:
    """Named secrets in a JSON file (mode 0600). Each is 48 hexadecimal characters: safe in a URL and in any file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def named(self, name: str) -> str:
        """Returns the named secret; a new one is written to disk first."""
        if name not in self._known:
            self._known[name] = secrets.token_hex(_BYTES)
            self._write()
        return self._known[name]

    def _write(self) -> None:
        part = self.path.with_suffix(".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(self._known, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
