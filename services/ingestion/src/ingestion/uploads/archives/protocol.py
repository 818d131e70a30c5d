"""The messages between the API and the process that reads an archive.

Each message of the process begins with a byte for its type. A member is BEGIN with its path, any number of DATA, and
END; or REFUSED with path and reason, possibly after BEGIN if its content turns out to be damaged. The archive ends with
FINISHED, or with REFUSED_REST and the reason.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

BEGIN, DATA, END, REFUSED, REFUSED_REST, FINISHED = b"b", b"d", b"e", b"r", b"s", b"f"


@dataclass(frozen=True)
class ArchiveAssignment:
    """The request to read an archive, followed by the open file. `limits` has the fields of ArchiveLimits."""

    kind: str
    limits: dict[str, int]

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode()
