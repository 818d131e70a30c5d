"""Following objects under a prefix of a real bucket."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.sources import S3Config
from ingestion.sources import s3
from ingestion.sources.settings import S3Connection, SourceSettings
from ingestion.sources.source import Item, ItemRefused, ItemVanished, SourceReader, SourceRefused, SourceUnavailable
from service_kit.objects import ObjectStore
from service_kit.settings import ObjectStoreSettings

MAX_BYTES = 1_000_000
ANY = uuid4()
Settings = Callable[..., SourceSettings]


@pytest.fixture
def settings(object_store_settings: ObjectStoreSettings) -> Settings:
    """`settings(access_key=...)` returns a connection `default` to the test's object store, with these changes."""

    def make(own_bucket: str = "attractor", own_endpoint: str = "", **changes: object) -> SourceSettings:
        connection = {
            "endpoint": object_store_settings.s3_endpoint,
            "access_key": object_store_settings.s3_access_key,
            "secret_key": object_store_settings.s3_secret_key.get_secret_value(),
            "secure": False,
            **changes,
        }
        return SourceSettings(
            source_s3_connections={"default": S3Connection.model_validate(connection)},
            s3_endpoint=own_endpoint or object_store_settings.s3_endpoint,
            s3_bucket=own_bucket,
        )

    return make


@pytest.fixture
def reader(object_store: ObjectStore, settings: Settings, tmp_path: Path):  # type: ignore[no-untyped-def]
    @asynccontextmanager
    async def opened(prefix: str = "", **config: object) -> AsyncIterator[SourceReader]:
        wanted = S3Config.model_validate({"bucket": object_store.bucket, "prefix": prefix, **config})
        async with s3.open_reader(wanted, settings().reach(ANY, True), {}, tmp_path) as reader:
            yield reader

    return opened


async def listed(reader: SourceReader) -> dict[str, Item]:
    return {one.path: one async for one in reader.items() if isinstance(one, Item)}


async def test_objects_below_a_prefix_are_listed_and_read(
    object_store: ObjectStore, reader: Callable[..., object], tmp_path: Path
) -> None:
    object_store.put("docs/a.md", b"# A", "text/markdown")
    object_store.put("docs/deep/b c.txt", b"B")
    object_store.put("docs/empty/", b"")
    object_store.put("docs/program.exe", b"MZ")
    object_store.put("other/c.md", b"C")
    async with reader("docs/") as source:
        items = await listed(source)
        assert sorted(items) == ["a.md", "deep/b c.txt"]
        item = items["a.md"]
        assert (item.name, item.size) == ("a.md", 3)
        assert item.uri == f"s3://{object_store.bucket}/docs/a.md"
        assert items["deep/b c.txt"].uri == f"s3://{object_store.bucket}/docs/deep/b%20c.txt"
        fetched = await source.fetch(item, tmp_path / "target", MAX_BYTES)
        assert fetched is not None
        assert (tmp_path / "target").read_bytes() == b"# A"
        assert (fetched.media_type, fetched.size) == ("text/markdown", 3)
        assert fetched.content_hash == hashlib.sha256(b"# A").hexdigest()
        assert fetched.fingerprint == item.fingerprint


async def test_the_fingerprint_changes_with_the_content(
    object_store: ObjectStore, reader: Callable[..., object]
) -> None:
    object_store.put("a.md", b"one")
    async with reader() as source:
        first = await listed(source)
        assert await listed(source) == first
        object_store.put("a.md", b"two")
        assert (await listed(source))["a.md"].fingerprint != first["a.md"].fingerprint


async def test_a_listing_spans_several_pages_and_applies_patterns(
    object_store: ObjectStore, reader: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "BATCH", 7)
    for number in range(20):
        object_store.put(f"x/report-{number:02}.md", b"x")
    object_store.put("x/secret/report-99.md", b"x")
    async with reader("x/report") as source:
        assert len(await listed(source)) == 20
    async with reader("x/", include=["*-0?.md"], exclude=["secret/"]) as source:
        assert list(await listed(source)) == [f"report-{number:02}.md" for number in range(10)]


async def test_unreadable_objects_are_reported(
    object_store: ObjectStore, reader: Callable[..., object], tmp_path: Path
) -> None:
    object_store.put("large.txt", b"0" * 2000)
    object_store.put("gone.txt", b"0")
    async with reader() as source:
        items = await listed(source)
        object_store.delete(["gone.txt"])
        with pytest.raises(ItemVanished):
            await source.fetch(items["gone.txt"], tmp_path / "target", MAX_BYTES)
        with pytest.raises(ItemRefused) as refused:
            await source.fetch(items["large.txt"], tmp_path / "target", 1000)
        assert refused.value.slug == "too-large"


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"access_key": "someone-else"}, "s3-denied"),
        ({"secret_key": "a wrong one"}, "s3-denied"),
        ({"endpoint": "127.0.0.1:9"}, "s3-unavailable"),
    ],
)
async def test_a_bucket_that_cannot_be_listed_counts_as_unreachable(
    object_store: ObjectStore, settings: Settings, tmp_path: Path, changes: dict[str, str], slug: str
) -> None:
    configured = settings(**changes)
    async with s3.open_reader(
        S3Config(bucket=object_store.bucket), configured.reach(ANY, True), {}, tmp_path
    ) as reader:
        with pytest.raises(SourceUnavailable) as away:
            await listed(reader)
    assert away.value.slug == slug
    connection = configured.source_s3_connections["default"]
    for secret in (connection.access_key, connection.secret_key.get_secret_value()):
        assert secret not in away.value.message


async def test_a_missing_bucket_is_reported(settings: Settings, object_store: ObjectStore, tmp_path: Path) -> None:
    assert object_store.bucket
    async with s3.open_reader(S3Config(bucket="no-such-bucket"), settings().reach(ANY, True), {}, tmp_path) as reader:
        with pytest.raises(SourceUnavailable, match="does not exist"):
            await listed(reader)


async def test_the_internal_bucket_cannot_be_a_source(settings: Settings, tmp_path: Path) -> None:
    config = S3Config(bucket="documents")
    await s3.check(config, settings().reach(ANY, True))
    port = settings().s3_endpoint.rpartition(":")[2]
    for endpoint in ("", f"localhost:{port}", settings().s3_endpoint.upper()):
        with pytest.raises(SourceRefused, match="all workspaces"):
            await s3.check(config, settings(own_bucket="documents", own_endpoint=endpoint).reach(ANY, True))
    with pytest.raises(SourceUnavailable, match="all workspaces"):
        async with s3.open_reader(config, settings(own_bucket="documents").reach(ANY, True), {}, tmp_path):
            raise AssertionError("opened")
    amazon = settings("documents", "s3.amazonaws.com", endpoint="s3.eu-central-1.amazonaws.com")
    with pytest.raises(SourceRefused, match="all workspaces"):
        await s3.check(config, amazon.reach(ANY, True))
    await s3.check(config, settings(own_bucket="documents", own_endpoint="127.0.0.2:1").reach(ANY, True))


async def test_only_configured_buckets_can_be_sources(settings: Settings) -> None:
    with pytest.raises(SourceRefused, match="no S3 connection"):
        await s3.check(S3Config(bucket="documents", connection="other"), settings().reach(ANY, True))
    restricted = settings(buckets=["wiki"])
    await s3.check(S3Config(bucket="wiki"), restricted.reach(ANY, True))
    with pytest.raises(SourceRefused, match="not for the bucket"):
        await s3.check(S3Config(bucket="documents"), restricted.reach(ANY, True))
