"""Passes a request to the service that answers it, streaming in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from gateway import routing
from gateway.access.authenticator import Doorkeeper
from gateway.errors import CallerLeft
from gateway.proxy.upstream_request import Exchange
from gateway.proxy.incoming_body import IncomingBody
from gateway.proxy.upstreams import Upstreams
from service_kit.auth import Tokens
from service_kit.problems import NotFound, Problem


class Proxy:
    """An ASGI application for the paths of `routing.TABLE`."""

    def __init__(
        self, upstreams: Upstreams, doorkeeper: Doorkeeper, tokens: Tokens, registry: CollectorRegistry
    ) -> None:
        self.upstreams, self.doorkeeper, self.tokens = upstreams, doorkeeper, tokens
        self.failures = Counter(
            "attractor_upstream_failures_total",
            "Requests that a service did not answer, or not to the end",
            ["service", "type"],
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = routing.prefix_of(scope["path"])
        if prefix is None or not routing.is_plain(scope["raw_path"]):
            raise NotFound("there is no such path")
        scope["route"] = prefix  # what logs and metrics name the request by
        request = Request(scope, receive)
        caller, request.state.answer_headers = await self.doorkeeper.admit(request)
        principal = await self.doorkeeper.principal(caller, every_workspace=prefix.every_workspace)
        body = IncomingBody(receive)
        exchange = Exchange(self.upstreams, request, prefix.service, self.tokens.sign(principal), body, send)
        try:
            await body.start()
            await _until(body.caller_left(), exchange.run())
        except ClientDisconnect as error:
            if not exchange.started:
                raise CallerLeft from error
        except Problem as problem:
            self.failures.labels(prefix.service, problem.type).inc()
            raise
        if exchange.cut:
            self.failures.labels(prefix.service, "cut").inc()


async def _until(caller_left: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None]) -> None:
    """Does the work, and drops it when the caller leaves: then raises ClientDisconnect."""
    leaving, working = asyncio.create_task(caller_left), asyncio.create_task(work)
    try:
        await asyncio.wait((leaving, working), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
        else:
            raise ClientDisconnect
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(leaving, working, return_exceptions=True)
