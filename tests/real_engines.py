"""Real servers for a test session: embedded ones from wheels, or the public images (ENGINES=containers)."""

from __future__ import annotations

import os
import secrets
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from neo4j import GraphDatabase
from redis import Redis
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy, LogMessageWaitStrategy

from embedded import redis_acl
from embedded.engines import Engines

POSTGRES_IMAGE = os.environ.get("POSTGRES_IMAGE", "pgvector/pgvector:pg18")
REDIS_IMAGE = "redis:8"
SEAWEEDFS_IMAGE = "chrislusf/seaweedfs:4.48"
NEO4J_IMAGE = "neo4j:5"


@dataclass(frozen=True)
class RealEngines:
    """Addresses of the servers; `neo4j` is (url, user, password) or None. `redis_url` returns the URL of a user."""

    admin_database_url: str
    admin_redis_url: str
    s3_endpoint: str
    s3_access_key: str
    s3_secret_key: str
    neo4j: tuple[str, str, str] | None
    redis_url: Callable[[str], str]


@contextmanager
def embedded_engines() -> Iterator[RealEngines]:
    with Engines.temporary() as engines:
        yield addresses(engines)


def addresses(engines: Engines) -> RealEngines:
    """Returns the addresses of embedded engines."""
    store = engines.object_store
    return RealEngines(
        engines.admin_database_url,
        engines.admin_redis_url,
        store.endpoint,
        store.access_key,
        store.secret_key,
        None,
        engines.redis_url,
    )


@contextmanager
def container_engines() -> Iterator[RealEngines]:
    """Starts the engines in containers; fails with Docker's own message if Docker does not respond."""
    password, key = secrets.token_hex(16), secrets.token_hex(16)
    postgres = (
        DockerContainer(POSTGRES_IMAGE)
        .with_env("POSTGRES_PASSWORD", password)
        .with_env("POSTGRES_DB", "attractor")
        .with_exposed_ports(5432)
        .waiting_for(LogMessageWaitStrategy("database system is ready to accept connections", times=2))
    )
    redis = (
        DockerContainer(REDIS_IMAGE)
        .with_exposed_ports(6379)
        .waiting_for(LogMessageWaitStrategy("Ready to accept connections"))
    )
    store = (
        DockerContainer(SEAWEEDFS_IMAGE)
        .with_command("mini -dir=/data -ip=127.0.0.1 -ip.bind=0.0.0.0 -admin.ui=false -webdav=false -s3.port.iceberg=0")
        .with_env("AWS_ACCESS_KEY_ID", "attractor")
        .with_env("AWS_SECRET_ACCESS_KEY", key)
        .with_exposed_ports(8333)
        .waiting_for(HttpWaitStrategy(8333, "/healthz"))
    )
    neo4j = (
        DockerContainer(NEO4J_IMAGE)
        .with_env("NEO4J_AUTH", f"neo4j/{password}")
        .with_env("NEO4J_server_memory_heap_max__size", "512m")
        .with_env("NEO4J_server_memory_pagecache_size", "128m")
        .with_exposed_ports(7687, 7474)
        .waiting_for(HttpWaitStrategy(7474, "/"))
    )
    with postgres, redis, store, neo4j:
        bolt = f"bolt://{_address(neo4j, 7687)}"
        with GraphDatabase.driver(bolt, auth=("neo4j", password)) as driver:
            driver.verify_connectivity()
        with urllib.request.urlopen(f"http://{_address(store, 8333)}/healthz", timeout=10):
            pass
        yield RealEngines(
            f"postgresql://postgres:{password}@{_address(postgres, 5432)}/attractor",
            _with_users(_address(redis, 6379), password),
            _address(store, 8333),
            "attractor",
            key,
            (bolt, "neo4j", password),
            lambda user: f"redis://{user}:{password}@{_address(redis, 6379)}/0",
        )


def _with_users(address: str, password: str) -> str:
    """Creates the users on an open server; returns the administrator's URL."""
    with Redis.from_url(f"redis://{address}/0") as client:
        for line in reversed(
            redis_acl.rendered(lambda _: password).splitlines()
        ):  # the default user, whose connection this is, comes last
            client.execute_command("ACL", "SETUSER", *line.split()[1:])  # type: ignore[no-untyped-call]
    return f"redis://{redis_acl.ADMINISTRATOR}:{password}@{address}/0"


def _address(container: DockerContainer, port: int) -> str:
    return f"{container.get_container_host_ip()}:{container.get_exposed_port(port)}"
