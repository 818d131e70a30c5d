"""The composition root: everything is built here and handed down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry
from psycopg.errors import ForeignKeyViolation
from redis.asyncio import Redis
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from contracts.events import DOCUMENTS, WorkspacePurged
from contracts.registry import GATEWAY, ORCHESTRATOR
from gateway.access.authenticator import Authenticator, CallerLimits
from gateway.access.in_flight import InFlight, Shares
from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from gateway.access.response_headers import ResponseHeaders
from gateway.accounts.accounts import Accounts
from gateway.accounts.administrators import Administrators
from gateway.accounts.api_keys import ApiKeys
from gateway.accounts.computable_keys import warn_of_computable_keys
from gateway.accounts.first_start import announce_home, ensure_admin
from gateway.accounts.inviting import Inviting
from gateway.accounts.joining import Joining
from gateway.accounts.user_administration import UserAdministration
from gateway.accounts.workspace_deletion import RECEIPTS, WorkspaceDeletions
from gateway.api import audit, docs, events, internal, operations, people, routes, shared
from gateway.audit.retention import AuditRetention
from gateway.audit.trail import AuditMiddleware, AuditTrail
from gateway.errors import UnknownWorkspace
from gateway.events.feed import Feed
from gateway.events.follower import WorkspaceEvents
from gateway.mcp.route import McpRoute
from gateway.operations.backup_age import backup_reading
from gateway.operations.dead_letters import DeadLetters
from gateway.proxy import routing
from gateway.proxy.body_limit import BodyLimit
from gateway.proxy.proxy import Proxy
from gateway.proxy.upstreams import Upstreams
from gateway.settings import Settings
from gateway.signin import routes as signin_routes
from gateway.signin.attempts import Attempts
from gateway.signin.cookies import KNOWN_BROWSER, BrowserCookie
from gateway.signin.host_check import HostCheck
from gateway.signin.known_browsers import SECONDS as BROWSER_SECONDS
from gateway.signin.known_browsers import KnownBrowsers
from gateway.signin.openid import routes as openid_routes
from gateway.signin.openid.provider import OpenIdProvider, new_client
from gateway.signin.openid.sign_ins import OpenIdSignIns
from gateway.signin.origins import WebOrigins
from gateway.signin.password_sign_ins import PasswordSignIns
from gateway.signin.passwords import Passwords
from gateway.signin.web_sessions import Lifetime, WebSessions
from gateway.web import routes as web_routes
from gateway.web.files import WebFiles
from service_kit.app import service_app
from service_kit.background import Background
from service_kit.event_readings import add_event_readings
from service_kit.event_signatures import EventSignatures
from service_kit.http_service import HttpService
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, OutboxRelay, unsigned_until
from service_kit.postgres import Database
from service_kit.problem_handlers import on_problem
from service_kit.problems import Unavailable
from service_kit.readings import counter
from service_kit.routes import add_routes
from service_kit.schema import newest_migration
from service_kit.streams import Consumer
from service_kit.telemetry import Metrics

HEARTBEAT_SECONDS, LONGEST_STREAM_SECONDS = 15.0, 300.0
SHARED_SECONDS = 10.0  # time limit for the orchestrator to open a share


def create_app(settings: Settings) -> FastAPI:
    """Returns the application, which connects to nothing until its lifespan begins."""
    parts = Parts(settings)
    routers = [
        routes.router,
        people.router,
        audit.router,
        operations.router,
        events.router,
        signin_routes.router,
        openid_routes.router,
        shared.router,
    ]
    app = service_app("gateway", settings, routers, parts.lifespan, openapi_url=None)
    parts.install(app)
    internal.install(app.state.private, app.state.tokens, parts.deletions)
    _add_middleware(app, settings, parts.origins, AuditTrail(parts.database, app.state.metrics.registry))
    return app


class Parts:
    """The objects that the application is made of."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.database_url.get_secret_value(), settings.database_pool_size)
        self.redis = Redis.from_url(settings.redis_url.get_secret_value(), socket_connect_timeout=1, socket_timeout=2)
        self.following = Redis.from_url(
            settings.redis_url.get_secret_value(),
            socket_connect_timeout=1,
            socket_timeout=HEARTBEAT_SECONDS + 10,
            max_connections=settings.max_connections,  # each stream takes one when it begins
        )
        self.notifications = Notifications(settings.listening_url, "gateway_outbox", RECEIPTS)
        self.last_used = LastUsed(self.database)
        self.administrators = Administrators(settings.oidc_issuer)
        self.deletions = WorkspaceDeletions(
            self.database,
            self.administrators,
            self.redis,
            self.notifications,
            Outbox(GATEWAY),
            settings.workspace_settle_seconds,
        )
        self.origins = WebOrigins(settings.public_url, settings.allowed_hosts)
        lifetime = Lifetime(settings.session_idle_seconds, settings.session_seconds)
        self.web_sessions = WebSessions(self.database, self.origins, lifetime)
        registration = settings.provider()
        self.provider = OpenIdProvider(registration, new_client()) if registration else None
        self.upstreams = Upstreams(
            settings.upstreams(),
            settings.upstream_connect_seconds,
            settings.upstream_first_byte_seconds,
            settings.upstream_connections,
        )

    def install(self, app: FastAPI) -> None:
        settings, state = self.settings, app.state
        state.on_stop.append(self.notifications.stop)
        registry = state.metrics.registry
        caller_limits = limits(settings, self.redis, registry)
        state.authenticator = Authenticator(self.database, self.web_sessions, self.last_used, caller_limits)
        state.web_sessions = self.web_sessions
        per_address = settings.sign_in_attempts_per_address
        attempts = Attempts(
            Buckets(self.redis, "sign_ins_of_account", 1, settings.sign_in_attempts, registry),
            Buckets(self.redis, "sign_ins_from_address", per_address, per_address, registry),
        )
        state.openid_sign_ins = None
        if self.provider:
            domains = settings.oidc_allowed_domains
            state.openid_sign_ins = OpenIdSignIns(self.database, self.provider, self.web_sessions, attempts, domains)
        browser_cookie = BrowserCookie(KNOWN_BROWSER, self.origins, BROWSER_SECONDS)
        state.sign_ins = PasswordSignIns(
            self.database, Passwords(), self.web_sessions, attempts, KnownBrowsers(state.tokens.key, browser_cookie)
        )
        reads = Buckets(self.redis, "shared_reads", settings.rate_limit_per_minute, settings.rate_limit_burst, registry)
        orchestrator = HttpService(
            ORCHESTRATOR, self.upstreams.client, state.tokens, settings.orchestrator_url, SHARED_SECONDS
        )
        state.shared_sessions = shared.SharedSessions(self.database, orchestrator, reads)
        state.database = self.database
        state.accounts = Accounts(self.database, settings.rate_limit_per_minute)
        state.api_keys = ApiKeys(self.database)
        state.users = UserAdministration(self.database, self.administrators)
        state.inviting = Inviting(self.database)
        state.joining = Joining(self.database, state.api_keys)
        state.deletions = self.deletions
        state.dead_letters = DeadLetters(self.redis)
        state.redis = self.redis
        state.upstreams, state.status_seconds = self.upstreams, settings.status_seconds
        add_routes(app, docs.routes())
        state.web_files = WebFiles()
        add_routes(app, web_routes.routes(state.web_files))
        app.router.default = web_routes.not_found(state.web_files, app.router.default)
        proxy = Proxy(self.upstreams, state.authenticator, state.tokens, registry, settings.max_json_bytes)
        for prefix in routing.TABLE:
            for path in (prefix.path, f"{prefix.path}/{{rest:path}}"):
                app.router.routes.append(Route(path, proxy, include_in_schema=False))
        self.mcp = McpRoute(app, state.authenticator)
        app.router.routes.append(Route("/mcp", self.mcp, methods=["POST"], include_in_schema=False))
        app.add_exception_handler(psycopg.OperationalError, _database_unavailable)
        app.add_exception_handler(ForeignKeyViolation, _workspace_gone)

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        settings, health = self.settings, app.state.health
        chosen = settings.admin_api_key.get_secret_value() if settings.admin_api_key else None
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.redis.aclose)
            stack.push_async_callback(self.following.aclose)
            await stack.enter_async_context(self.upstreams.client)
            if self.provider:
                await stack.enter_async_context(self.provider.client)
            await stack.enter_async_context(self.database.opened())
            await ensure_admin(self.database, self.administrators, chosen, settings.admin_key_file)
            await announce_home(self.database, Outbox(GATEWAY))
            await warn_of_computable_keys(self.database)
            stack.push_async_callback(self.last_used.close)
            background = await stack.enter_async_context(Background(app.state.metrics))
            background.start("mcp", self.mcp.run)
            background.start("last_used", self.last_used.run)
            background.start("audit_retention", AuditRetention(self.database, settings.audit_days).run)
            consuming = await stack.enter_async_context(Background(app.state.metrics))
            tokens = app.state.tokens
            signatures = EventSignatures(tokens.key, tokens.known, await unsigned_until(self.database))
            self._start_deletions(consuming, app.state.metrics, signatures)
            feed = Feed(self.following, signatures, HEARTBEAT_SECONDS)
            consuming.start("changes", feed.run)
            app.state.workspace_events = WorkspaceEvents(
                feed, heartbeat_seconds=HEARTBEAT_SECONDS, longest_seconds=LONGEST_STREAM_SECONDS
            )
            health.add("database", self.database.check)
            health.add_fact("schema_version", lambda: newest_migration(self.database, "gateway"))
            health.add("redis", self._check_redis, required=False)
            health.add("background", background.check)
            health.add("events", consuming.check, required=False)
            yield

    def _start_deletions(self, background: Background, metrics: Metrics, signatures: EventSignatures) -> None:
        """Runs deletions separately from the rest: without Redis they wait, while everything else continues."""
        relay = OutboxRelay(self.database, self.redis, self.notifications, GATEWAY, signatures)
        handlers = {WorkspacePurged.event_type: self.deletions.confirm}
        consumer = Consumer(self.redis, DOCUMENTS, GATEWAY, handlers, metrics, signatures, block_seconds=1.0)
        add_event_readings(metrics.readings, self.database, self.redis, GATEWAY, [DOCUMENTS])
        metrics.readings.add("backups", backup_reading(self.database))
        background.start("notifications", self.notifications.run)
        background.start("outbox", relay.run)
        background.start("documents", consumer.run)
        background.start("deletions", self.deletions.run)

    async def _check_redis(self) -> None:
        await self.redis.ping()


def limits(settings: Settings, redis: Redis, registry: CollectorRegistry) -> CallerLimits:
    """Builds the limits of callers, with their metrics."""
    per_minute, burst, keys = (
        settings.rate_limit_per_minute,
        settings.rate_limit_burst,
        settings.rate_limit_workspace_keys,
    )
    failures = settings.auth_failures_per_minute
    in_flight = counter(
        "attractor_in_flight_refused_total",
        "Requests refused because too many were in progress",
        registry,
        what=("requests", "waits"),
        holder=("key", "workspace"),
    )
    return CallerLimits(
        Buckets(redis, "requests", per_minute, burst, registry),
        Buckets(redis, "workspace_requests", per_minute * keys, burst * keys, registry),
        Buckets(redis, "failed_authentications", failures, failures, registry),
        InFlight(
            "requests",
            Shares(settings.requests_in_flight_per_key, settings.requests_in_flight_per_workspace),
            in_flight,
        ),
        InFlight("waits", Shares(settings.waits_in_flight_per_key, settings.waits_in_flight_per_workspace), in_flight),
    )


def _add_middleware(app: FastAPI, settings: Settings, origins: WebOrigins, trail: AuditTrail) -> None:
    """Adds, from the outside in: response headers, CORS, (telemetry,) host check, audit, body limit, (routes)."""
    app.user_middleware.append(Middleware(HostCheck, origins))
    app.user_middleware.append(Middleware(AuditMiddleware, trail))
    app.user_middleware.append(Middleware(BodyLimit, settings.max_body_bytes, settings.max_json_bytes))
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "ETag"],
            max_age=600,
        )
    app.add_middleware(ResponseHeaders, by_tls=origins.is_public_by_tls)


async def _workspace_gone(request: Request, _: Exception) -> JSONResponse:
    """Responds to a request whose workspace was deleted after it had been admitted."""
    return await on_problem(request, UnknownWorkspace())


async def _database_unavailable(request: Request, error: Exception) -> JSONResponse:
    problem = Unavailable("the database does not answer")
    problem.__cause__ = error
    return await on_problem(request, problem)
