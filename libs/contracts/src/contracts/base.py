"""What all models share: strict requests, pages, text that every store can hold."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

T = TypeVar("T")


def storable(text: str) -> str:
    """Returns the text. Raises ValueError on NUL or lone surrogates, which PostgreSQL and UTF-8 cannot hold."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode (it contains a lone surrogate)") from None
    return text


Text = Annotated[str, AfterValidator(storable)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)]
Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000), AfterValidator(storable)
]


class Request(BaseModel):
    """A body that a caller sends. Unknown fields are rejected, so that misspelt ones are noticed."""

    model_config = ConfigDict(extra="forbid")


class Resource(BaseModel):
    """A body that a service returns."""

    model_config = ConfigDict(frozen=True)


class Page(Resource, Generic[T]):
    """One page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None = None


class ProblemBody(BaseModel):
    """An error, RFC 9457 (`application/problem+json`). `type` is a stable slug."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["document-not-found"])
    title: str
    status: int
    detail: str | None = None
    instance: str | None = None
    trace_id: str | None = None
