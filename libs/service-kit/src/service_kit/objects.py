"""The object store: any S3, through the minio SDK, outside the event loop. Keys begin with the workspace's id."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import urllib3
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import MinioException, S3Error

from service_kit.problems import Unavailable
from service_kit.settings import ObjectStoreSettings
from service_kit.tracing import store_call

PIECE_BYTES = 256 * 1024


class ObjectMissing(Exception):
    """The object store has no object under this key."""


class ObjectStore:
    """Blocking methods for threads, each with an async `a…` twin. All raise Unavailable if S3 does not answer."""

    def __init__(self, settings: ObjectStoreSettings) -> None:
        retries = urllib3.Retry(total=3, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504])
        timeout = urllib3.Timeout(connect=3, read=60)
        self.http = urllib3.PoolManager(maxsize=16, retries=retries, timeout=timeout)
        self.bucket = settings.s3_bucket
        self.client = Minio(
            settings.s3_endpoint,
            access_key=settings.s3_access_key,
            secret_key=settings.s3_secret_key.get_secret_value(),
            secure=settings.s3_secure,
            region=settings.s3_region,
            http_client=self.http,
        )

    def close(self) -> None:
        self.http.clear()

    def ensure_bucket(self) -> None:
        with _called("HeadBucket"):
            if not self.client.bucket_exists(bucket_name=self.bucket):
                self.client.make_bucket(bucket_name=self.bucket)

    def put(self, key: str, data: bytes, media_type: str = "application/octet-stream") -> None:
        with _called("PutObject", key):
            self.client.put_object(
                bucket_name=self.bucket, object_name=key, data=BytesIO(data), length=len(data), content_type=media_type
            )

    def put_file(self, key: str, path: Path, media_type: str = "application/octet-stream") -> None:
        with _called("PutObject", key):
            self.client.fput_object(
                bucket_name=self.bucket, object_name=key, file_path=str(path), content_type=media_type
            )

    def get(self, key: str) -> bytes:
        """Raises ObjectMissing."""
        with _called("GetObject", key):
            response: Any = self.client.get_object(bucket_name=self.bucket, object_name=key)
            try:
                return bytes(response.read())
            finally:
                response.close()
                response.release_conn()

    def get_file(self, key: str, path: Path) -> None:
        """Writes the object to the file, whose folder is made if it is not there. Raises ObjectMissing."""
        path.parent.mkdir(parents=True, exist_ok=True)
        pieces = self.stream(key)
        with _called("GetObject", key), path.open("wb") as file:
            for piece in pieces:
                file.write(piece)

    def stream(self, key: str, offset: int = 0, length: int = 0) -> Generator[bytes]:
        """Returns `length` bytes of the object from `offset` on, or all that follow (0), in pieces; opened now and
        released when the iteration ends.

        Raises ObjectMissing, and Unavailable when the object ends before `offset`.
        """
        with _called("GetObject", key):
            response: Any = self.client.get_object(
                bucket_name=self.bucket, object_name=key, offset=offset, length=length
            )
        return _pieces(response)

    def exists(self, key: str) -> bool:
        try:
            with _called("HeadObject", key):
                self.client.stat_object(bucket_name=self.bucket, object_name=key)
        except ObjectMissing:
            return False
        return True

    def keys(self, prefix: str) -> list[str]:
        with _called("ListObjectsV2", prefix):
            found = self.client.list_objects(bucket_name=self.bucket, prefix=prefix, recursive=True)
            return [str(one.object_name) for one in found]

    def ages(self, prefix: str) -> dict[str, datetime]:
        """Returns when each object below the prefix was last written, by key."""
        with _called("ListObjectsV2", prefix):
            found = self.client.list_objects(bucket_name=self.bucket, prefix=prefix, recursive=True)
            return {str(one.object_name): one.last_modified for one in found if one.last_modified}

    def listed(self) -> list[Any]:
        """Returns all objects, with `object_name`, `size`, `etag` and `last_modified`."""
        with _called("ListObjectsV2"):
            return list(self.client.list_objects(bucket_name=self.bucket, recursive=True))

    def folders(self) -> list[str]:
        """Returns the first parts of all keys, without the slash."""
        with _called("ListObjectsV2"):
            found = self.client.list_objects(bucket_name=self.bucket, recursive=False)
            return [str(one.object_name).rstrip("/") for one in found if one.is_dir]

    def delete(self, keys: Iterable[str]) -> int:
        """Deletes the objects, ignoring missing ones; returns how many were named."""
        wanted = list(keys)
        with _called("DeleteObjects"):
            failed = list(
                self.client.remove_objects(
                    bucket_name=self.bucket, delete_object_list=[DeleteObject(name=key) for key in wanted]
                )
            )
        if failed:
            raise Unavailable(f"the object store did not delete {len(failed)} of {len(wanted)} objects")
        return len(wanted)

    async def aput(self, key: str, data: bytes, media_type: str = "application/octet-stream") -> None:
        await asyncio.to_thread(self.put, key, data, media_type)

    async def aput_file(self, key: str, path: Path, media_type: str = "application/octet-stream") -> None:
        await asyncio.to_thread(self.put_file, key, path, media_type)

    async def aget(self, key: str) -> bytes:
        return await asyncio.to_thread(self.get, key)

    async def astream(self, key: str, offset: int = 0, length: int = 0) -> Generator[bytes]:
        return await asyncio.to_thread(self.stream, key, offset, length)

    async def aexists(self, key: str) -> bool:
        return await asyncio.to_thread(self.exists, key)

    async def akeys(self, prefix: str) -> list[str]:
        return await asyncio.to_thread(self.keys, prefix)

    async def adelete(self, keys: Iterable[str]) -> int:
        return await asyncio.to_thread(self.delete, list(keys))

    async def check(self) -> None:
        """A health check."""
        await asyncio.to_thread(self.client.bucket_exists, bucket_name=self.bucket)


def _pieces(response: Any) -> Generator[bytes]:
    try:
        yield from response.stream(PIECE_BYTES)
    finally:
        response.close()
        response.release_conn()


@contextmanager
def _called(operation: str, key: str = "") -> Iterator[None]:
    """Records the call, and translates S3's errors into ObjectMissing and Unavailable."""
    try:
        with store_call(f"s3 {operation}"):
            yield
    except (MinioException, urllib3.exceptions.HTTPError, OSError) as error:
        if isinstance(error, S3Error) and error.code in {"NoSuchKey", "NoSuchObject"}:
            raise ObjectMissing(key) from error
        raise Unavailable("the object store does not answer as it should") from error
