"""What the API and the process that takes an archive apart tell each other.

Each message of the process begins with a byte that says what it is. A member is BEGIN with its path, DATA any number of
times, and END; or REFUSED with path and reason, also after BEGIN, when its content turns out to be damaged. The archive
ends with FINISHED, or with REFUSED_REST and the reason.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

BEGIN, DATA, END, REFUSED, REFUSED_REST, FINISHED = b"b", b"d", b"e", b"r", b"s", b"f"


@dataclass(frozen=True)
class ArchiveAssignment:
    """`kind` is that of the archive, `limits` the fields of ArchiveLimits. The opened archive comes after it."""

    kind: str
    limits: dict[str, int]

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode()
