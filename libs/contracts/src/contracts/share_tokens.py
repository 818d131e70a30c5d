"""The tokens of shares: `ats_<64 hex digits>_<43 characters>`. No I/O.

The digits are the ids of the workspace and the share, used to find it; the rest is the secret (`random_secrets`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from contracts.random_secrets import new_secret

FORM = re.compile(r"ats_([0-9a-f]{32})([0-9a-f]{32})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True)
class ShareToken:
    """Lets anyone who presents it read one share of one workspace."""

    workspace_id: UUID
    share_id: UUID
    secret: str

    @classmethod
    def new(cls, workspace_id: UUID, share_id: UUID) -> ShareToken:
        return cls(workspace_id, share_id, new_secret())

    @classmethod
    def parse(cls, text: str) -> ShareToken | None:
        """Returns the token, or None if the text cannot be one."""
        found = FORM.fullmatch(text)
        return cls(UUID(hex=found[1]), UUID(hex=found[2]), found[3]) if found else None

    def render(self) -> str:
        return f"ats_{self.workspace_id.hex}{self.share_id.hex}_{self.secret}"
