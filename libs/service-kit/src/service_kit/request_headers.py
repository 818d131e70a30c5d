"""Headers of several services: If-Match and ETag, which carry a version (RFC 9110), and Idempotency-Key."""

from __future__ import annotations

import re
from typing import Annotated, Protocol, TypeVar

from fastapi import Depends, Header, Response

from contracts.base import ProblemBody
from service_kit.problems import PreconditionFailed
from service_kit.routes import Responses


class Versioned(Protocol):
    """A resource that can be changed."""

    @property
    def version(self) -> int: ...


AnyVersioned = TypeVar("AnyVersioned", bound=Versioned)
STALE: Responses = {412: {"model": ProblemBody, "description": "If-Match names a version that is not the current one"}}
_VERSION = re.compile(r'(?:W/)?"?(\d{1,9})"?', re.ASCII)


async def expected_version(if_match: Annotated[str | None, Header(max_length=100)] = None) -> int | None:
    """Returns the version in If-Match, None without it or with `*`. Raises PreconditionFailed if it is not one."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _VERSION.fullmatch(if_match.strip())
    if match is None:
        raise PreconditionFailed("If-Match must be the resource's version")
    return int(match[1])


async def idempotency(
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=r"^[\x21-\x7e]+$",
            description="Repeating the request with the same key creates nothing new and returns what exists",
        ),
    ] = None,
) -> str | None:
    return idempotency_key


ExpectedVersion = Annotated[int | None, Depends(expected_version)]
IdempotencyKey = Annotated[str | None, Depends(idempotency)]


def tagged(resource: AnyVersioned, response: Response) -> AnyVersioned:
    """Returns the resource, with its version in the header ETag."""
    response.headers["ETag"] = f'"{resource.version}"'
    return resource
