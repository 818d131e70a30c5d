"""The tokens of shares: `ats_<64 hex digits>_<43 characters>`. No I/O.

The digits are the ids of the workspace and the share, used to find it; the rest is a secret of 256 random bits, of
which only the SHA-256 is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from uuid import UUID

SECRET_BYTES = 32
FORM = re.compile(r"ats_([0-9a-f]{32})([0-9a-f]{32})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True)
class ShareToken:
    """Lets anyone who presents it read one share of one workspace."""

    workspace_id: UUID
    share_id: UUID
    secret: str

    @classmethod
    def new(cls, workspace_id: UUID, share_id: UUID) -> ShareToken:
        return cls(workspace_id, share_id, secrets.token_urlsafe(SECRET_BYTES))

    @classmethod
    def parse(cls, text: str) -> ShareToken | None:
        """Returns the token, or None if the text cannot be one."""
        found = FORM.fullmatch(text)
        return cls(UUID(hex=found[1]), UUID(hex=found[2]), found[3]) if found else None

    def render(self) -> str:
        return f"ats_{self.workspace_id.hex}{self.share_id.hex}_{self.secret}"


def secret_sha256(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def proves(secret: str, stored_sha256: bytes) -> bool:
    """Returns whether the secret matches the stored hash; compares in constant time."""
    return hmac.compare_digest(secret_sha256(secret), stored_sha256)
