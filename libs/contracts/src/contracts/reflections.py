"""What a turn that changed an artifact revealed about its user: preferred style, and facts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

MOST_REFLECTIONS = 8
LONGEST_REFLECTION = 200


class StyleAspect(StrEnum):
    """What a style guideline is about. A user has one guideline per aspect at a time: a later one replaces it."""

    spelling = "spelling"
    language = "language"
    length = "length"
    lists = "lists"
    headings = "headings"
    emojis = "emojis"
    tone = "tone"
    address = "address"
    units = "units"


class Reflection(BaseModel):
    """A sentence about the user. `aspect` is set for a style guideline that is about one of these."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["style", "fact"]
    aspect: StyleAspect | None = None
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_REFLECTION)]
