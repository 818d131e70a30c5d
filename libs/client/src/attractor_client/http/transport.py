"""Requests to one server: the key, retries, and errors as `AttractorError`."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2
from pydantic import BaseModel, ValidationError

from attractor_client.errors import (
    AttractorError,
    NotSendable,
    UnexpectedAnswer,
    Unreachable,
    from_response,
)
from attractor_client.http.retry import RetryPolicy
from attractor_client.version import VERSION

M = TypeVar("M", bound=BaseModel)
Parameters = Mapping[str, Any]
# Servers close idle connections after a few seconds (uvicorn: five), so the client closes its own earlier.
KEEPALIVE_SECONDS = 3.0


def path(*parts: str | UUID) -> str:
    """Builds a path: `path("v1/documents", id)`. Each part after the first is quoted as one segment."""
    first, *rest = map(str, parts)
    return "/".join(["", first, *(quote(part, safe="") for part in rest)])


class Transport:
    """The connection pool and what every request has in common. Times in seconds."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        timeout: float,
        retry: RetryPolicy,
        carrier: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """`carrier` sends the requests to the server; by default over the network."""
        self.url = httpx2.URL(url)
        if self.url.scheme not in ("http", "https") or not self.url.host:
            raise ValueError(f"{url!r} is not a server URL; expected one like http://127.0.0.1:8080")
        headers = {"User-Agent": f"attractor-client/{VERSION}", "Accept": "application/json"}
        if api_key:
            if not (api_key.isascii() and api_key.isprintable()):
                raise ValueError("the API key contains characters that are not allowed in a key")
            headers["Authorization"] = f"Bearer {api_key}"
        self.timeout, self.retry = timeout, retry
        self.http = httpx2.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0), pool=None),
            limits=httpx2.Limits(max_connections=100, keepalive_expiry=KEEPALIVE_SECONDS),
            trust_env=not _is_loopback(self.url.host),
            transport=carrier,
        )

    async def aclose(self) -> None:
        await self.http.aclose()

    async def fetch(self, method: str, place: str, kind: type[M], **options: Any) -> M:
        """Returns the parsed response; `options` are those of `send`."""
        return self.parse(await self.send(method, place, **options), kind)

    async def get(self, place: str, kind: type[M], params: Parameters | None = None, **options: Any) -> M:
        return await self.fetch("GET", place, kind, params=params, **options)

    async def create(
        self, place: str, body: BaseModel, kind: type[M], idempotency_key: str | None = None, *, nulls: bool = False
    ) -> M:
        """Sends a POST that may be retried, because its Idempotency-Key identifies it."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
        return await self.fetch("POST", place, kind, body=body, nulls=nulls, headers=headers, repeatable=True)

    async def query(self, place: str, body: BaseModel, kind: type[M]) -> M:
        """Sends a POST that changes nothing."""
        return await self.fetch("POST", place, kind, body=body, repeatable=True)

    async def send(
        self,
        method: str,
        place: str,
        *,
        params: Parameters | None = None,
        body: BaseModel | None = None,
        content: bytes | None = None,
        nulls: bool = False,
        headers: dict[str, str] | None = None,
        files: Any = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> httpx2.Response:
        """Returns the successful response, read completely. `repeatable` defaults to what RFC 9110 says of the method.

        Fields of the body that are None are left out; with `nulls`, fields that were not set. `content` is sent as is.
        """
        if repeatable is None:
            repeatable = method in ("GET", "PUT", "DELETE")

        async def attempt() -> httpx2.Response:
            with translated():
                response = await self.http.request(
                    method,
                    place,
                    params=_given(params),
                    json=body.model_dump(mode="json", exclude_none=not nulls, exclude_unset=nulls) if body else None,
                    content=content,
                    headers=headers,
                    files=files,
                    timeout=self._timeout(timeout),
                )
            if not response.is_success:
                raise from_response(response)
            return response

        return await self.retry.run(attempt, repeatable=repeatable)

    @asynccontextmanager
    async def stream(
        self,
        place: str,
        *,
        params: Parameters | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """Opens a streamed response; retries only until it has begun."""
        waits = self._timeout(timeout)
        request = self.http.build_request("GET", place, params=_given(params), headers=headers, timeout=waits)

        async def attempt() -> httpx2.Response:
            with translated():
                response = await self.http.send(request, stream=True)
                if not response.is_success:
                    await response.aread()
                    await response.aclose()
                    raise from_response(response)
            return response

        response = await self.retry.run(attempt, repeatable=True)
        try:
            with translated():
                yield response
        finally:
            await response.aclose()

    def parse(self, response: httpx2.Response, kind: type[M]) -> M:
        """Parses a response, ignoring unknown fields; raises UnexpectedAnswer if a known one is not valid."""
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "body"
            detail = f"{response.request.url.path}: {place}: {first['msg']}"
            raise UnexpectedAnswer("Unexpected response", detail) from error

    def _timeout(self, seconds: float | None) -> httpx2.Timeout:
        return httpx2.Timeout(seconds or self.timeout, connect=min(self.timeout, 10.0), pool=None)


@contextmanager
def translated() -> Iterator[None]:
    """Translates the exceptions of httpx2 into those of this package."""
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise Unreachable("Cannot reach the server", _reason(error), sent=False) from error
    except httpx2.LocalProtocolError as error:
        raise NotSendable("The request could not be sent", _reason(error)) from error
    except httpx2.TimeoutException as error:
        raise Unreachable("The server did not answer in time", sent=True) from error
    except httpx2.TransportError as error:
        raise Unreachable("The connection to the server was lost", _reason(error), sent=True) from error
    except httpx2.RequestError as error:
        raise UnexpectedAnswer("Cannot read the response", _reason(error)) from error
    except httpx2.InvalidURL as error:
        raise AttractorError("The URL is not valid", _reason(error)) from error


def _reason(error: Exception) -> str | None:
    return str(error) or None


def _given(params: Parameters | None) -> dict[str, Any] | None:
    return {name: value for name, value in params.items() if value is not None} if params else None


def is_readable_on_the_way(url: str) -> bool:
    """Returns whether requests to the server leave this machine without encryption."""
    parsed = httpx2.URL(url)
    return parsed.scheme == "http" and not _is_loopback(parsed.host)


def _is_loopback(host: str) -> bool:
    """Returns whether the host is this machine, which no proxy from the environment serves."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
