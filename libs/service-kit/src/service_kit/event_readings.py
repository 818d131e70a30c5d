"""Gauges of services that write and read events: streams, outbox, connections."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric
from redis.asyncio import Redis

from service_kit.postgres import Database
from service_kit.readings import Reading, Readings, gauge
from service_kit.stream_groups import backlogs
from service_kit.streams import dead_letters


def add_event_readings(
    readings: Readings, database: Database, redis: Redis, group: str, streams: Sequence[str]
) -> None:
    """Adds the readings of every service that writes and reads events."""
    readings.add("streams", stream_reading(redis, group, streams))
    readings.add("redis", memory_reading(redis))
    readings.add("outbox", outbox_reading(database))
    readings.add("connections", connection_reading(database))


def stream_reading(redis: Redis, group: str, streams: Sequence[str]) -> Reading:
    """Returns a reading of how far a consumer group is behind on its streams, and of all groups' dead letters."""

    async def read() -> Iterable[Metric]:
        labels = ["stream", "group"]
        lag = GaugeMetricFamily("attractor_stream_lag", "Events not yet delivered to the group", labels=labels)
        pending = GaugeMetricFamily(
            "attractor_stream_pending", "Events delivered to the group but not handled", labels=labels
        )
        oldest = GaugeMetricFamily(
            "attractor_stream_pending_oldest_seconds",
            "Age of the oldest event delivered to the group but not handled; 0 if there is none",
            labels=labels,
        )
        dead = GaugeMetricFamily(
            "attractor_dead_letters", "Dead letters waiting to be replayed, over all groups", labels=["stream"]
        )
        for stream in streams:
            dead.add_metric([stream], await redis.xlen(dead_letters(stream)))
            for backlog in await backlogs(redis, stream, group):
                if backlog.waiting is not None:
                    lag.add_metric([stream, group], backlog.waiting)
                pending.add_metric([stream, group], backlog.held)
                since = backlog.held_since
                oldest.add_metric([stream, group], 0.0 if since is None else max(0.0, time.time() - since))
        return lag, pending, oldest, dead

    return read


def memory_reading(redis: Redis) -> Reading:
    """Returns a reading of how full Redis is; a limit of 0 bytes means that it has none."""

    async def read() -> Iterable[Metric]:
        memory = await redis.info("memory")
        return (
            gauge("attractor_redis_bytes", "Memory that Redis uses for its data", memory["used_memory"]),
            gauge(
                "attractor_redis_most_bytes", "Limit of the memory for Redis' data; 0: no limit", memory["maxmemory"]
            ),
        )

    return read


def outbox_reading(database: Database) -> Reading:
    """Returns a reading of what waits in the outbox, which also works while Redis is unavailable."""

    async def read() -> Iterable[Metric]:
        async with database.system() as connection:
            cursor = await connection.execute(
                "SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0) FROM outbox"
            )
            count, age = await cursor.fetchone() or (0, 0)
        return (
            gauge("attractor_outbox_rows", "Events waiting to be published", float(count)),
            gauge("attractor_outbox_oldest_seconds", "Age of the oldest event waiting to be published", float(age)),
        )

    return read


def connection_reading(database: Database) -> Reading:
    """Returns a reading of the pool's connections to PostgreSQL, and of the callers waiting for one."""

    async def read() -> Iterable[Metric]:
        pool = database.pool.get_stats()
        connections = GaugeMetricFamily(
            "attractor_database_connections", "Connections to PostgreSQL by state", labels=["state"]
        )
        free = pool.get("pool_available", 0)
        connections.add_metric(["free"], free)
        connections.add_metric(["used"], pool.get("pool_size", 0) - free)
        waiting = pool.get("requests_waiting", 0)
        return (
            connections,
            gauge(
                "attractor_database_connections_most",
                "Maximum connections of this process to PostgreSQL",
                database.pool.max_size,
            ),
            gauge("attractor_database_waiting", "Callers waiting for a connection to PostgreSQL", waiting),
        )

    return read
