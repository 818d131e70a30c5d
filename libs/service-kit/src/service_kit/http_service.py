"""Requests to another service over HTTP, for the calling user or on this service's own behalf."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from service_kit.auth import Principal, ServiceCaller
from service_kit.problems import ServiceSilent
from service_kit.replicas import REPEATABLE, ReplicaTransport
from service_kit.tokens import Tokens
from service_kit.tracing import outgoing_headers

Answer = TypeVar("Answer", bound=BaseModel)
Requesting = Callable[..., Awaitable[httpx2.Response]]
PAUSES_SECONDS = (0.05, 0.2)  # before a failed connection is retried
MOST_IDLE = 100
REPEATED = {"extensions": {REPEATABLE: True}}  # services ask each other only what may be asked twice
IDLE_SECONDS = 2.0  # less than a server waits (uvicorn: 5 s), so that it never closes a connection that is being used


def service_client(max_connections: int | None = None, max_idle: int = MOST_IDLE, **options: Any) -> httpx2.AsyncClient:
    """Returns a client for requests to other services, which are shared among replicas (`ReplicaTransport`).

    It ignores proxies set in the environment. `options` are those of httpx2.AsyncClient. Certificates are read once
    per process, which takes about 60 ms.
    """
    limits = httpx2.Limits(
        max_connections=max_connections, max_keepalive_connections=max_idle, keepalive_expiry=IDLE_SECONDS
    )
    connections = httpx2.AsyncHTTPTransport(verify=_trusted(), trust_env=False, limits=limits)
    return httpx2.AsyncClient(transport=ReplicaTransport(connections), trust_env=False, **options)


@cache
def _trusted() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


@dataclass(frozen=True)
class HttpService:
    """The service `name` at its base URL, or None if the deployment has none. `seconds` are for each request."""

    name: str
    client: httpx2.AsyncClient
    tokens: Tokens
    base_url: str | None
    seconds: float

    @property
    def is_there(self) -> bool:
        return self.base_url is not None

    async def ask(self, caller: Principal | ServiceCaller, method: str, path: str, **more: Any) -> httpx2.Response:
        """Returns any response but a server error. Retries on connection errors. Raises ServiceSilent."""
        return await self._ask(self.client.request, caller, method, path, **more)

    async def _ask(
        self, request: Requesting, caller: Principal | ServiceCaller, method: str, path: str, **more: Any
    ) -> httpx2.Response:
        if self.base_url is None:
            raise ServiceSilent(f"this deployment has no {self.name}")
        try:
            headers = {**outgoing_headers(), "Authorization": f"Bearer {self.tokens.sign(caller, self.name)}"}
        except ValueError as error:
            raise ServiceSilent(f"{self.name} cannot be called: {error}") from error
        url = self.base_url.rstrip("/") + path
        try:
            response = await _sent(request, method, url, headers=headers, timeout=self.seconds, **REPEATED, **more)
        except httpx2.TimeoutException as error:
            raise ServiceSilent(f"{self.name} did not answer within {self.seconds:g} s") from error
        except httpx2.RequestError as error:
            raise ServiceSilent(f"{self.name} cannot be reached ({type(error).__name__})") from error
        if response.status_code >= 500:
            await response.aclose()
            raise ServiceSilent(f"{self.name} answered with status {response.status_code}")
        return response

    async def open(self, caller: Principal | ServiceCaller, path: str) -> httpx2.Response:
        """Returns a response whose body is still to be read; the caller closes it. Raises ServiceSilent."""
        return await self._ask(self._open, caller, "GET", path)

    async def fetch(
        self,
        caller: Principal | ServiceCaller,
        method: str,
        path: str,
        answer: type[Answer],
        body: BaseModel | None = None,
    ) -> Answer:
        """Returns a successful response, parsed as `answer`. Raises ServiceSilent for any other outcome."""
        more = {} if body is None else {"json": body.model_dump(mode="json", exclude_none=True)}
        return self.parse(self.successful(await self.ask(caller, method, path, **more)), answer)

    def successful(self, response: httpx2.Response) -> httpx2.Response:
        """Returns the response. Raises ServiceSilent if its status is not a success."""
        if not response.is_success:
            raise ServiceSilent(f"{self.name} answered with status {response.status_code}")
        return response

    def parse(self, response: httpx2.Response, answer: type[Answer]) -> Answer:
        """Returns the response's body. Raises ServiceSilent if it is not an `answer`."""
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise ServiceSilent(f"{self.name} gave an answer that cannot be read") from error

    async def _open(self, method: str, url: str, **more: Any) -> httpx2.Response:
        return await self.client.send(self.client.build_request(method, url, **more), stream=True)


async def _sent(request: Requesting, method: str, url: str, **more: Any) -> httpx2.Response:
    for pause in PAUSES_SECONDS:
        try:
            return await request(method, url, **more)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            await asyncio.sleep(pause)
    return await request(method, url, **more)
