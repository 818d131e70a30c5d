"""Secrets of 256 random bits, stored as their SHA-256: a slow hash adds nothing to what cannot be guessed. No I/O."""

from __future__ import annotations

import hashlib
import hmac
import secrets

SECRET_BYTES = 32


def new_secret() -> str:
    """Returns 43 characters, safe in URLs."""
    return secrets.token_urlsafe(SECRET_BYTES)


def secret_sha256(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def proves(secret: str, stored_sha256: bytes) -> bool:
    """Returns whether the secret matches the stored hash; compares in constant time."""
    return hmac.compare_digest(secret_sha256(secret), stored_sha256)
