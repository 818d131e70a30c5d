"""What all models share: strict requests, pages, text that every store can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import CoreSchema

T = TypeVar("T")
# White space is allowed: tabs, line breaks, and page breaks in text copied from a document.
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def storable(text: str) -> str:
    """Returns the text. Raises ValueError on NUL or lone surrogates, which PostgreSQL and UTF-8 cannot hold."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode (it contains a lone surrogate)") from None
    return text


def plain(text: str) -> str:
    """Returns the text. Raises ValueError unless it is `storable` and free of terminal control characters."""
    if CONTROL.search(storable(text)):
        raise ValueError("must not contain control characters")
    return text


# Left, top, right, bottom, as a plain array: many readers of OpenAPI do not know the schema of a tuple.
Box = Annotated[
    tuple[float, float, float, float],
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}),
]
Text = Annotated[str, AfterValidator(storable)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)]
Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000), AfterValidator(storable)
]


def _make_strict(schema: object) -> None:
    """Makes every boolean and number in a core schema strict; texts stay readable as dates, ids and the like."""
    left = [schema]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if one.get("type") in ("bool", "int", "float"):
                one["strict"] = True
            left += [value for name, value in one.items() if name not in ("default", "metadata", "serialization")]
        elif isinstance(one, list | tuple):
            left += one


class Request(BaseModel):
    """A body that a caller sends. Unknown fields are rejected, so that misspelt ones are noticed.

    Every text in it, at any depth, is `plain`. Booleans and numbers must have these types in JSON: 1 and "yes" are not
    true, and true and "1" are not 1.
    """

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _make_strict(schema)
        return schema

    @field_validator("*")
    @classmethod
    def _texts_are_plain(cls, value: object) -> object:
        for text in _texts(value):
            plain(text)
        return value


def _texts(value: object) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            left += one


class Resource(BaseModel):
    """A body that a service returns."""

    model_config = ConfigDict(frozen=True)


class LineBox(Resource):
    """A line of a text on its page: characters `start` to `end` of the text. `box` is in points, as of a chunk."""

    page: int
    box: Box
    start: int
    end: int


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
