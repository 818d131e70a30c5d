"""Follows the objects under a prefix of a bucket, through a connection that the operator configures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3
from minio import Minio
from minio.error import MinioException, S3Error

from contracts.sources import S3Config
from ingestion.documents.file_names import safe_name
from ingestion.sources.s3_store import is_same_store
from ingestion.sources.selection import Selection
from ingestion.sources.settings import Reach, S3Connection
from ingestion.sources.source import (
    Fetched,
    Item,
    ItemRefused,
    ItemVanished,
    SourceReader,
    SourceRefused,
    SourceUnavailable,
)
from ingestion.sources.spool import spooling, too_large

NO_CONNECTION = (
    "no S3 connection with the name {!r} is open to sources of this workspace; the operator names it in "
    "SOURCE_S3_CONNECTIONS, where a connection without names is open to the administrator's alone"
)
BATCH = 1000
PIECE_BYTES = 1024 * 1024
CONNECT_SECONDS, READ_SECONDS, TRIES = 5.0, 60.0, 3
DENIED = frozenset({"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AllAccessDisabled", "Forbidden"})
ABSENT = frozenset({"NoSuchKey", "NoSuchObject", "NoSuchVersion"})


async def check(config: S3Config, reach: Reach) -> None:
    """Raises SourceRefused if this cannot be a source. Does not contact the bucket."""
    Selection(config.include, config.exclude)
    await _connection(config, reach)


@asynccontextmanager
async def open_reader(
    config: S3Config, reach: Reach, _known: Mapping[str, str], _scratch: Path
) -> AsyncIterator[SourceReader]:
    """Opens the bucket; raises SourceUnavailable if the connection is no longer configured."""
    try:
        connection = await _connection(config, reach)
    except SourceRefused as error:
        raise SourceUnavailable("s3-not-allowed", error.detail or error.title) from error
    retries = urllib3.Retry(total=TRIES, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504])
    http = urllib3.PoolManager(retries=retries, timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS))
    client = Minio(
        connection.endpoint,
        access_key=connection.access_key,
        secret_key=connection.secret_key.get_secret_value(),
        secure=connection.secure,
        region=connection.region,
        http_client=http,
    )
    try:
        yield S3Reader(config, client)
    finally:
        http.clear()


async def _connection(config: S3Config, reach: Reach) -> S3Connection:
    connection = reach.connections.get(config.connection)
    if connection is None:
        raise SourceRefused(NO_CONNECTION.format(config.connection))
    if connection.buckets and config.bucket not in connection.buckets:
        raise SourceRefused(f"the connection {config.connection!r} is not for the bucket {config.bucket!r}")
    if config.bucket == reach.settings.s3_bucket and await is_same_store(connection, reach.settings.s3_endpoint):
        raise SourceRefused("this bucket holds the documents of all workspaces")
    return connection


@dataclass(frozen=True)
class Listed:
    """An object as the bucket lists it."""

    key: str
    etag: str
    size: int


class S3Reader:
    """Lists and reads objects. Paths are relative to the last folder of the prefix. Blocking calls run in threads."""

    def __init__(self, config: S3Config, client: Minio) -> None:
        self.config, self.client = config, client
        self.base = config.prefix[: config.prefix.rfind("/") + 1]
        self.selection = Selection(config.include, config.exclude)

    async def items(self) -> AsyncIterator[Item]:
        """Yields the selected objects; raises SourceUnavailable if the bucket cannot be listed completely."""
        found = self._listed()
        while batch := await asyncio.to_thread(lambda: list(islice(found, BATCH))):
            for one in batch:
                path = one.key.removeprefix(self.base)
                if path and self.selection.wants(path):
                    uri = f"s3://{self.config.bucket}/{quote(one.key)}"
                    yield Item(path, _fingerprint(one.etag, one.size), uri, safe_name(path.encode()), one.size)

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        return await asyncio.to_thread(self._fetch, item, target, max_bytes)

    def _listed(self) -> Iterator[Listed]:
        try:
            for one in self.client.list_objects(
                bucket_name=self.config.bucket, prefix=self.config.prefix or None, recursive=True
            ):
                is_folder = one.is_dir or (str(one.object_name).endswith("/") and not one.size)
                if not is_folder:
                    yield Listed(str(one.object_name), (one.etag or "").strip('"'), int(one.size or 0))
        except (MinioException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self._unavailable(error) from error

    def _fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        try:
            response: Any = self.client.get_object(bucket_name=self.config.bucket, object_name=self.base + item.path)
            with closing(response):
                return _copied(response, item, target, max_bytes)
        except S3Error as error:
            if error.code in ABSENT:
                raise ItemVanished from error
            if error.code in DENIED or error.code == "InvalidObjectState":
                raise ItemRefused("s3-denied", f"The store refuses access to the object ({error.code}).") from error
            raise self._unavailable(error) from error
        except (MinioException, urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unavailable(error) from error
        except ValueError as error:
            raise ItemRefused("s3-bad-key", "The client cannot request an object with this name.") from error

    def _unavailable(self, error: Exception) -> SourceUnavailable:
        """Describes an error without its message, which contains keys and addresses."""
        where = f"The bucket {self.config.bucket} of the connection {self.config.connection}"
        code = error.code if isinstance(error, S3Error) else type(error).__name__
        if code == "NoSuchBucket":
            return SourceUnavailable("s3-no-such-bucket", f"{where} does not exist.")
        if code in DENIED:
            return SourceUnavailable("s3-denied", f"{where} may not be read with its credentials ({code}).")
        return SourceUnavailable("s3-unavailable", f"{where} does not answer as it should ({code}).")


def _fingerprint(etag: str, size: int) -> str:
    return f"{etag}-{size}"


def _copied(response: Any, item: Item, target: Path, max_bytes: int) -> Fetched:
    announced = int(response.headers.get("Content-Length") or 0)
    if announced > max_bytes:
        raise too_large(max_bytes)
    with spooling(target, max_bytes) as spool:
        for piece in response.stream(PIECE_BYTES, decode_content=False):
            spool.write(piece)
    if announced and spool.size != announced:
        raise urllib3.exceptions.IncompleteRead(spool.size, announced - spool.size)
    etag = (response.headers.get("ETag") or "").strip('"')
    media_type = (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    return Fetched(_fingerprint(etag, spool.size), media_type or None, item.name, spool.content_hash, spool.size)
