"""Passes each request to the service that handles its path, streaming in both directions."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from prometheus_client import CollectorRegistry
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from gateway.access.authenticator import Authenticator
from gateway.accounts.caller import Authenticated
from gateway.errors import CallerLeft, UpstreamRefused, UpstreamTimeout, UpstreamUnreachable
from gateway.proxy import query_cost, routing
from gateway.proxy.body_limit import weight_of
from gateway.proxy.incoming_body import IncomingBody
from gateway.proxy.upstream_request import UpstreamRequest
from gateway.proxy.upstreams import Upstreams
from service_kit.auth import Principal
from service_kit.disconnects import until
from service_kit.problems import NotFound, Problem
from service_kit.readings import counter
from service_kit.tokens import Tokens

ONLY_READ = ("GET", "HEAD")  # for these, a service never calls another one
CUT = "cut"  # the label of responses that began and did not end


class Proxy:
    """An ASGI application for the paths of `routing.TABLE`."""

    def __init__(
        self,
        upstreams: Upstreams,
        authenticator: Authenticator,
        tokens: Tokens,
        registry: CollectorRegistry,
        json_bytes: int,
    ) -> None:
        """`json_bytes` is the limit for ordinary JSON."""
        self.upstreams, self.authenticator, self.tokens, self.json_bytes = upstreams, authenticator, tokens, json_bytes
        self.failures = counter(
            "attractor_upstream_failures_total",
            "Requests that a service did not answer or not completely",
            registry,
            service={prefix.service for prefix in routing.TABLE},
            type=(UpstreamUnreachable.type, UpstreamRefused.type, UpstreamTimeout.type, CUT),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = routing.prefix_of(scope["path"])
        if prefix is None or not routing.is_plain(scope["raw_path"], prefix):
            raise NotFound("there is no such path")
        scope["route"] = prefix  # names the request in logs and metrics
        request = Request(scope, receive)
        caller, request.state.response_headers = await self.authenticator.admit(request)
        with self.authenticator.in_progress(caller, request):
            await self._pass(caller, request, prefix, send)

    async def _pass(self, caller: Authenticated, request: Request, prefix: routing.Prefix, send: Send) -> None:
        wide = prefix.every_workspace and request.method not in ONLY_READ
        principal = await self.authenticator.principal(caller, every_workspace=wide)
        token = self._token(principal, prefix, request.method)
        body = IncomingBody(request.receive)
        upstream = UpstreamRequest(self.upstreams, request, prefix, token, body, send)
        try:
            await body.start()
            with await self._charged(caller, request, prefix, body):
                await until(body.caller_left(), upstream.run())
        except ClientDisconnect as error:
            if not upstream.started:
                raise CallerLeft from error
        except Problem as problem:
            if problem.status >= 500:
                self.failures.labels(prefix.service, problem.type).inc()
            raise
        if upstream.cut:
            self.failures.labels(prefix.service, CUT).inc()

    def _token(self, principal: Principal, prefix: routing.Prefix, method: str) -> str:
        """Returns a token for the service, with a delegation if the service calls others for the user."""
        if prefix.actors and method not in ONLY_READ:
            principal = replace(principal, delegation=self.tokens.delegate(principal, prefix.actors, prefix.lasting))
        return self.tokens.sign(principal, prefix.service)

    async def _charged(
        self, caller: Authenticated, request: Request, prefix: routing.Prefix, body: IncomingBody
    ) -> AbstractContextManager[None]:
        """Charges for unusually expensive searches, and weighs images by the memory that they take in a service.

        Raises RateLimited; entering the context TooManyInFlight.
        """
        if prefix.images and (weight := weight_of(request.scope, self.json_bytes)) > 1:
            return self.authenticator.weighing(caller, weight)
        cost = query_cost.tokens(await body.whole()) if prefix.searches else 1
        if cost == 1:
            return nullcontext()
        request.state.response_headers = await self.authenticator.charge(caller, cost - 1)
        return self.authenticator.weighing(caller, query_cost.weight(cost))
