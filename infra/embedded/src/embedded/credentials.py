"""Passwords and keys, generated on first use and stored in one private file."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from service_kit.token_keys import SigningKey

_BYTES = 24
_KEY_BYTES = 32


class Credentials:
    """Named secrets in a JSON file (mode 0600), in hexadecimal, which is safe in URLs and files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def named(self, name: str, size: int = _BYTES) -> str:
        """Returns the named secret of `size` bytes; generates it and writes it to disk if it is missing."""
        if name not in self._known:
            self._known[name] = secrets.token_hex(size)
            self._write()
        return self._known[name]

    def token_key(self, service: str) -> str:
        """Returns the private key with which a service signs tokens."""
        return self.named(f"token-key-{service}", _KEY_BYTES)

    def public_keys(self, services: Iterable[str]) -> str:
        """Returns the public halves of the services' keys, in the format of TOKEN_PUBLIC_KEYS."""
        return " ".join(f"{one}:{SigningKey.parse(self.token_key(one)).public_text}" for one in services)

    def forget(self, name: str) -> None:
        """Deletes a secret that is no longer used."""
        if self._known.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        part = self.path.with_suffix(".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(self._known, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
