"""The format of invitation tokens, `ati_<32 hex digits>_<43 characters>`, like that of API keys. Pure."""

from __future__ import annotations

import re
from uuid import UUID

from gateway.accounts.key_format import Credential

FORM = re.compile(r"ati_([0-9a-f]{32})_([A-Za-z0-9_-]{43})", re.ASCII)


def parse(text: str) -> Credential | None:
    """Returns None if the text cannot be a token."""
    found = FORM.fullmatch(text)
    return Credential(UUID(hex=found[1]), found[2]) if found else None


def render(token: Credential) -> str:
    return f"ati_{token.id.hex}_{token.secret}"
