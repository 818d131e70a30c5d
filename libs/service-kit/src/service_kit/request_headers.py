"""Headers of several services: If-Match with a version, which ETag tells (RFC 9110), and Idempotency-Key."""

from __future__ import annotations

import re
from typing import Annotated, Protocol, TypeVar

from fastapi import Depends, Header, Response

from service_kit.problems import InvalidRequest, PreconditionFailed


class Versioned(Protocol):
    """A resource that can be changed."""

    @property
    def version(self) -> int: ...


AnyVersioned = TypeVar("AnyVersioned", bound=Versioned)
_VERSION = re.compile(r'(?:W/)?"?(\d{1,9})"?', re.ASCII)


async def expected_version(if_match: Annotated[str | None, Header(max_length=100)] = None) -> int | None:
    """Returns the version in If-Match, None without it or with `*`. Raises PreconditionFailed if it is not one."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _VERSION.fullmatch(if_match.strip())
    if match is None:
        raise PreconditionFailed("If-Match must be the resource's version")
    return int(match[1])


async def idempotency(idempotency_key: Annotated[str | None, Header(max_length=200)] = None) -> str | None:
    """Returns the key. Raises InvalidRequest if it contains anything but visible ASCII characters."""
    if idempotency_key is not None and not (idempotency_key.isascii() and idempotency_key.isprintable()):
        raise InvalidRequest("Idempotency-Key must be visible ASCII characters")
    return idempotency_key or None


ExpectedVersion = Annotated[int | None, Depends(expected_version)]
IdempotencyKey = Annotated[str | None, Depends(idempotency)]


def tagged(resource: AnyVersioned, response: Response) -> AnyVersioned:
    """Returns the resource, with its version in the header ETag."""
    response.headers["ETag"] = f'"{resource.version}"'
    return resource
