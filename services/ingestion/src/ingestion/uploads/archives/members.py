"""What the readers of archives find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ingestion.documents.refusals import Refused


class MemberDamaged(Exception):
    """The content of a member cannot be read; those after it can."""

    REFUSAL: ClassVar[Refused] = Refused("member-damaged", "it is damaged")


@dataclass(frozen=True)
class UnpackedMember:
    """`content` reads the next bytes, at most as many as asked, and none at the end; it raises MemberDamaged.

    Or it says why the member is rejected.
    """

    path: str
    content: Callable[[int], bytes] | Refused
