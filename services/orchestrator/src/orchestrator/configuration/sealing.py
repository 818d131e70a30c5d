"""Seals secrets with AES-256-GCM (NIST SP 800-38D), bound to the place where they are stored. Does no IO."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
_KEY = re.compile(r"[0-9a-fA-F]{64}")


class SealBroken(Exception):
    """The secret cannot be opened: its key is not known, or it was sealed for another place."""


class SettingsKeyInvalid(ValueError):
    """SETTINGS_KEY holds 64 hexadecimal characters for each key (openssl rand -hex 32), separated by spaces."""


@dataclass(frozen=True)
class Sealed:
    """A secret that only the key with this id opens; `content` begins with its nonce."""

    key_id: str
    content: bytes


@dataclass(frozen=True)
class SecretPlace:
    """The place where a secret is stored. A secret sealed for one place cannot be opened at another."""

    workspace_id: UUID
    key: str

    @property
    def bound(self) -> bytes:
        return f"{self.workspace_id}/{self.key}".encode()


class SecretSeal:
    """Seals with the first key and opens with all: a new key precedes the old one until all secrets are resealed."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """`keys`: at least one, of 32 bytes each."""
        self._ciphers = {key_id(key): AESGCM(key) for key in keys}
        self.key_id = key_id(keys[0])

    @classmethod
    def parse(cls, text: str) -> SecretSeal | None:
        """Returns None for an empty text. Raises SettingsKeyInvalid."""
        keys = text.split()
        if not all(map(_KEY.fullmatch, keys)):
            raise SettingsKeyInvalid(SettingsKeyInvalid.__doc__)
        return cls([bytes.fromhex(key) for key in keys]) if keys else None

    def seal(self, secret: str, place: SecretPlace) -> Sealed:
        nonce = os.urandom(NONCE_BYTES)
        return Sealed(self.key_id, nonce + self._ciphers[self.key_id].encrypt(nonce, secret.encode(), place.bound))

    def open(self, sealed: Sealed, place: SecretPlace) -> str:
        """Raises SealBroken."""
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None:
            raise SealBroken(f"no key {sealed.key_id} is configured")
        nonce, content = sealed.content[:NONCE_BYTES], sealed.content[NONCE_BYTES:]
        try:
            return cipher.decrypt(nonce, content, place.bound).decode()
        except InvalidTag:
            raise SealBroken("it was sealed for another place, or was changed") from None


def key_id(key: bytes) -> str:
    """Returns an id of a key that does not reveal it."""
    return hashlib.sha256(b"attractor settings key\x00" + key).hexdigest()[:8]
