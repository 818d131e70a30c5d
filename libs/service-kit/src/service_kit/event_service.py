"""Opens the common parts of services that write and read events, and runs their background tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from redis.asyncio import Redis

from contracts.events import DOCUMENTS
from service_kit.admission import Admission, Owner
from service_kit.background import Background
from service_kit.event_readings import add_event_readings
from service_kit.event_signatures import EventSignatures
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, OutboxRelay, keep_forgetting, unsigned_until
from service_kit.owners import deletion_owners
from service_kit.postgres import Database
from service_kit.schema import newest_migration
from service_kit.settings import ConsumerSettings, DocumentConsumerSettings, SessionConsumerSettings
from service_kit.streams import Consumer, Handler, TellDead, Together
from service_kit.workspace_purge import Erasure, WorkspacePurge


@dataclass(frozen=True)
class EventService:
    """`name` is the source of the service's events and its consumer group; `schema` its schema in the database.

    `owners` are asked before anything is erased (`Admission`).
    """

    app: FastAPI
    name: str
    schema: str
    database: Database
    redis: Redis
    notifications: Notifications
    outbox: Outbox
    owners: Mapping[str, Owner]

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        app: FastAPI,
        settings: ConsumerSettings,
        name: str,
        channels: Sequence[str] = (),
        redis: Redis | None = None,
    ) -> AsyncIterator[EventService]:
        """Opens database and Redis (or uses the given one), and closes them after everything opened within.

        `channels` are the PostgreSQL channels that the service itself listens to.
        """
        schema, url = name.replace("-", "_"), settings.database_url.get_secret_value()
        listened = (f"{schema}_outbox", f"{schema}_workspace_deleted", *channels)
        async with AsyncExitStack() as stack:
            database = await stack.enter_async_context(Database(url, settings.database_pool_size).opened())
            connected = await stack.enter_async_context(redis or Redis.from_url(settings.redis_url.get_secret_value()))
            ingestion_url = settings.ingestion_url if isinstance(settings, DocumentConsumerSettings) else None
            orchestrator_url = settings.orchestrator_url if isinstance(settings, SessionConsumerSettings) else None
            owners = await stack.enter_async_context(
                deletion_owners(name, app.state.tokens, settings.gateway_url, ingestion_url, orchestrator_url)
            )
            notifications = Notifications(settings.listening_url, *listened)
            app.state.on_stop.append(notifications.stop)
            yield cls(app, name, schema, database, connected, notifications, Outbox(name), owners)

    @asynccontextmanager
    async def running(
        self,
        reading: Mapping[str, Mapping[str, Handler]],
        on_dead: TellDead | None = None,
        before: Sequence[Erasure] = (),
        after: Sequence[Erasure] = (),
        together: Mapping[str, Together] | None = None,
    ) -> AsyncIterator[Background]:
        """Runs the relay, consumers, housekeeping and the purge of deleted workspaces, with their health checks.

        `reading`: handlers by event type, by stream. `before` and `after` are the purge's (`WorkspacePurge`). Further
        tasks may be started; all end before anything that was opened earlier closes. `together` is passed to the
        consumers (`Consumer`); its handlers see from `first_time` that a workspace was deleted.
        """
        metrics, health = self.app.state.metrics, self.app.state.health
        purge = WorkspacePurge(self.database, self.outbox, self.schema, before, after)
        tokens = self.app.state.tokens
        signatures = EventSignatures(tokens.key, tokens.known, await unsigned_until(self.database))
        relay = OutboxRelay(self.database, self.redis, self.notifications, self.schema, signatures)
        streams: dict[str, Mapping[str, Handler]] = {DOCUMENTS: {}, **reading}
        async with Background(metrics) as background:
            background.start("notifications", self.notifications.run)
            background.start("outbox", relay.run)
            for stream, handlers in streams.items():
                own = purge.around(handlers)
                consumer = Consumer(
                    self.redis,
                    stream,
                    self.name,
                    own,
                    metrics,
                    signatures,
                    on_dead,
                    together=together or {},
                    admission=Admission(self.owners),
                )
                background.start(stream.removeprefix("attractor."), consumer.run)
            background.start("workspace_purge", lambda: purge.run(self.notifications))
            background.start("housekeeping", lambda: keep_forgetting(self.database))
            add_event_readings(metrics.readings, self.database, self.redis, self.name, list(streams))
            health.add("database", self.database.check)
            health.add_fact("schema_version", lambda: newest_migration(self.database, self.schema))
            health.add("redis", self.redis.ping)
            health.add("background", background.check)
            yield background
