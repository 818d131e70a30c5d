"""Stores behind TLS with a certificate of one's own authority: trusted where it is named, refused where it is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis.exceptions
from redis.asyncio import Redis
from tls_front import OwnAuthority

from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.settings import DatabaseSettings, ObjectStoreSettings, RedisSettings


@pytest.fixture
def authority(tmp_path: Path) -> OwnAuthority:
    return OwnAuthority.made(tmp_path / "ours")


@pytest.fixture
def stranger(tmp_path: Path) -> OwnAuthority:
    return OwnAuthority.made(tmp_path / "theirs")


def through(url: str, port: int, query: str) -> str:
    """Returns the URL with the address of the front, and `query` added."""
    parts = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    asked = "&".join(filter(None, (parts.query, query)))
    return parts._replace(netloc=f"{login}@localhost:{port}", query=asked).geturl()


async def test_postgresql_is_reached_over_tls_and_its_certificate_is_verified(
    make_database, authority: OwnAuthority, stranger: OwnAuthority
) -> None:
    plain = make_database("kit_tls").service
    address = urlsplit(plain).netloc.rpartition("@")[2]
    async with authority.before(address, postgres=True) as port:

        def url(trusted: OwnAuthority) -> str:
            given = through(plain, port, f"sslmode=verify-full&sslrootcert={trusted.certificate}")
            return DatabaseSettings(database_url=given).database_url.get_secret_value()

        async with Database(url(authority), 1).opened() as database, database.system() as connection:
            assert await (await connection.execute("SELECT 1")).fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            await psycopg.AsyncConnection.connect(url(stranger))


async def test_redis_is_reached_over_tls_and_its_certificate_is_verified(
    redis_url: str, authority: OwnAuthority, stranger: OwnAuthority
) -> None:
    async with authority.before(urlsplit(redis_url).netloc.rpartition("@")[2]) as port:

        def url(trusted: OwnAuthority) -> str:
            given = through(redis_url, port, f"ssl_ca_certs={trusted.certificate}").replace("redis://", "rediss://", 1)
            return RedisSettings(redis_url=given).redis_url.get_secret_value()

        async with Redis.from_url(url(authority)) as redis_:
            assert await redis_.ping()
        async with Redis.from_url(url(stranger)) as redis_:
            with pytest.raises(redis.exceptions.ConnectionError, match=r"(?i)certificate"):
                await redis_.ping()


async def test_the_object_store_is_reached_over_tls_and_its_certificate_is_verified(
    object_store_settings: ObjectStoreSettings,
    authority: OwnAuthority,
    stranger: OwnAuthority,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with authority.before(object_store_settings.s3_endpoint) as port:
        settings = object_store_settings.model_copy(update={"s3_endpoint": f"localhost:{port}", "s3_secure": True})

        def written_and_read() -> bytes:
            store = ObjectStore(settings)
            try:
                store.ensure_bucket()
                store.put("over/tls", b"content")
                return store.get("over/tls")
            finally:
                store.close()

        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        assert await asyncio.to_thread(written_and_read) == b"content"
        monkeypatch.setenv("SSL_CERT_FILE", str(stranger.certificate))
        with pytest.raises(Unavailable):
            await asyncio.to_thread(written_and_read)
