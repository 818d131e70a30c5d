"""The format of API keys. Pure: nothing here reads or writes.

A key is `atr_<32 hex digits>_<43 characters>`: a public id, by which it is found, and a secret (`random_secrets`).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from uuid import UUID

from contracts import random_secrets

MADE_HERE = re.compile(r"atr_([0-9a-f]{32})_([A-Za-z0-9_-]{43,100})", re.ASCII)
ANY_KEY = re.compile(r"[A-Za-z0-9._~+/=-]{32,200}", re.ASCII)
# The output of generators of random keys: `openssl rand -hex 32`, `make env`, `openssl rand -base64 32`, this gateway.
HEX_DIGITS = re.compile(r"[0-9a-f]{48,200}", re.ASCII)
BASE_64 = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/_-]{43,198}={0,2}", re.ASCII)
FEWEST_DIFFERENT_CHARACTERS, LONGEST_REPEATED_PART = 10, 7


@dataclass(frozen=True)
class Credential:
    """A public id, by which a row is found, and the secret that proves it."""

    id: UUID
    secret: str

    @property
    def secret_sha256(self) -> bytes:
        return random_secrets.secret_sha256(self.secret)

    def matches(self, stored_sha256: bytes) -> bool:
        return random_secrets.proves(self.secret, stored_sha256)


class ApiKeyText(Credential):
    """A presented key, split into its parts."""


def parse(text: str) -> ApiKeyText | None:
    """Returns None if the text cannot be a key.

    An operator's own key (ADMIN_API_KEY, for instance from `openssl rand -hex 32`) has no public part: its id is a
    hash of the key, unlike the hash that is stored.
    """
    if made_here := MADE_HERE.fullmatch(text):
        return ApiKeyText(UUID(hex=made_here[1]), made_here[2])
    if ANY_KEY.fullmatch(text):
        return ApiKeyText(UUID(bytes=hashlib.sha256(b"api key id:" + text.encode()).digest()[:16]), text)
    return None


def valid_operator_key(text: str) -> bool:
    """Returns whether an operator may choose this key. It must look generated, as keys get a fast hash."""
    length = LONGEST_REPEATED_PART + 1
    parts = [text[start : start + length] for start in range(len(text) - length + 1)]
    return (
        bool(HEX_DIGITS.fullmatch(text) or BASE_64.fullmatch(text))
        and len(set(text)) >= FEWEST_DIFFERENT_CHARACTERS
        and len(set(parts)) == len(parts)
    )


def render(key_id: UUID, secret: str) -> str:
    return f"atr_{key_id.hex}_{secret}"
