"""Finds a text in everything that the embedded stack stores: every row, every key of Redis, every object."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import psycopg
from minio import Minio
from psycopg import sql
from redis import Redis

from embedded.data_folder import DataFolder
from embedded.engines import Engines

TABLES = (
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    " ORDER BY 1, 2"
)


def places_of(folder: DataFolder, text: str) -> dict[str, int]:
    """Returns where the text is, whatever its case, and how often: `schema.table`, `redis KEY`, `object KEY`."""
    engines = Engines.running(folder)
    assert engines is not None, "the stack is running"
    found: dict[str, int] = {}
    wanted = text.lower().encode()
    for place, content in (*_rows(engines), *_keys(engines), *_objects(engines)):
        if wanted in content.lower():
            found[place] = found.get(place, 0) + 1
    return found


def _rows(engines: Engines) -> Iterator[tuple[str, bytes]]:
    with psycopg.connect(engines.admin_database_url) as connection:
        for schema, table in connection.execute(TABLES).fetchall():
            statement = sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(schema, table))
            for (row,) in connection.execute(statement):
                yield f"{schema}.{table}", _with_bytes(row)


def _with_bytes(row: str) -> bytes:
    r"""Returns the row, and after it what its bytea columns (`\x…`) hold."""
    parts = [row.encode()]
    for part in row.split("\\x")[1:]:
        digits = part[: next((at for at, one in enumerate(part) if one not in "0123456789abcdef"), len(part))]
        parts.append(_plain(bytes.fromhex(digits[: len(digits) // 2 * 2])))
    return b"\n".join(parts)


def _keys(engines: Engines) -> Iterator[tuple[str, bytes]]:
    with Redis.from_url(engines.admin_redis_url) as redis:
        for key in redis.scan_iter():
            read = {
                b"string": redis.get,
                b"hash": redis.hgetall,
                b"list": lambda one: redis.lrange(one, 0, -1),
                b"set": redis.smembers,
                b"zset": lambda one: redis.zrange(one, 0, -1),
                b"stream": redis.xrange,
            }.get(redis.type(key))
            yield f"redis {key.decode(errors='replace')}", repr((key, read(key) if read else None)).encode()


def _objects(engines: Engines) -> Iterator[tuple[str, bytes]]:
    access = engines.object_store
    store = Minio(
        access.endpoint, access_key=access.access_key, secret_key=access.secret_key, secure=False, region="us-east-1"
    )
    for bucket in store.list_buckets():
        for item in store.list_objects(bucket.name, recursive=True):
            answer = store.get_object(bucket.name, str(item.object_name))
            try:
                yield f"object {item.object_name}", str(item.object_name).encode() + b"\n" + _plain(answer.read())
            finally:
                answer.close()
                answer.release_conn()


def _plain(content: bytes) -> bytes:
    """Returns the content, decompressed if it is compressed."""
    for opened in (gzip.decompress, zlib.decompress):
        try:
            return opened(content)
        except (OSError, EOFError, zlib.error):
            continue
    return content
