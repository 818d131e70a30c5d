"""Ed25519 keys that sign and verify tokens. Both halves of a key are written as 64 hexadecimal digits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)
SEPARATOR = re.compile(r"[\s,]+")


@dataclass(frozen=True)
class SigningKey:
    """A private key. `id` names the public key that verifies its signatures."""

    private: Ed25519PrivateKey
    id: str

    @classmethod
    def parse(cls, text: str) -> SigningKey:
        """Raises ValueError, which does not repeat the text."""
        if not KEY.fullmatch(text):
            raise ValueError("a private key is 64 hexadecimal digits, as of: openssl rand -hex 32")
        private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
        return cls(private, key_id(private.public_key()))

    @property
    def public_text(self) -> str:
        """Returns the public half, as `parse_public_keys` reads it."""
        return self.private.public_key().public_bytes_raw().hex()


@dataclass(frozen=True)
class PublicKey:
    """A public key and the service whose signatures it verifies."""

    issuer: str
    key: Ed25519PublicKey


def parse_public_keys(text: str) -> Mapping[str, PublicKey]:
    """Parses `service:key service:key …` into keys by id; a service may have several.

    Raises ValueError.
    """
    found: dict[str, PublicKey] = {}
    for entry in SEPARATOR.split(text.strip()):
        issuer, _, public = entry.partition(":")
        if not issuer or not KEY.fullmatch(public):
            raise ValueError("public keys are written service:key, separated by blanks; a key is 64 hexadecimal digits")
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        if found.setdefault(key_id(key), PublicKey(issuer, key)).issuer != issuer:
            raise ValueError(f"two services have the same public key: {found[key_id(key)].issuer} and {issuer}")
    return found


def key_id(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]
