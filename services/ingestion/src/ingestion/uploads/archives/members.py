"""The members that readers of archives yield."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ingestion.documents.refusals import Refused


class MemberDamaged(Exception):
    """The content of a member cannot be read, but later members can."""

    REFUSAL: ClassVar[Refused] = Refused("member-damaged", "it is damaged")


@dataclass(frozen=True)
class UnpackedMember:
    """`content` reads up to the given number of bytes, none at the end, and raises MemberDamaged.

    If the member is rejected, `content` is the reason.
    """

    path: str
    content: Callable[[int], bytes] | Refused
