"""What a wrong setting says, and does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from service_kit import settings
from service_kit.settings import DatabaseSettings, MigrationSettings, ObjectStoreSettings, RedisSettings

SECRET = "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"postgres//service:{SECRET}@db/attractor",
        f"postgresql://service:1%{SECRET}@db/attractor",
        f"postgresql://service:{SECRET}/x@db/attractor",
        f"postgresql://service:x@{SECRET}@db/attractor",
    ],
)
def test_an_invalid_database_url_is_refused_without_being_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://service:secret@db:5432/attractor")
    monkeypatch.setenv("ADMIN_DATABASE_URL", url)
    with pytest.raises(ValidationError) as refused:
        MigrationSettings()
    assert "percent-encode" in str(refused.value)
    assert SECRET not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    "url", [f"redis://:{SECRET}/x@redis:6379/0", f"http://:{SECRET}@redis", f"redis://[{SECRET}@x"]
)
def test_an_invalid_redis_url_is_refused_without_being_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(ValidationError) as refused:
        RedisSettings()
    assert SECRET not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["postgresql://a:b%2Fc@h1:5432,h2:5433/x", "postgresql:///x?host=/run/postgresql", "host=db user=a password=b"],
)
def test_every_form_of_a_database_url_is_accepted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert DatabaseSettings().database_url.get_secret_value() == url


def test_secrets_missing_from_the_environment_are_read_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lets containers read them from /run/secrets, so that `docker inspect` shows none."""
    monkeypatch.setattr(settings, "SECRET_FILES", tmp_path)
    for name, content in {"s3_access_key": "key\n", "s3_secret_key": f"{SECRET}\n", "s3_region": ""}.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("S3_ENDPOINT", "store:8333")
    for name in ("S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_REGION"):
        monkeypatch.delenv(name, raising=False)
    found = ObjectStoreSettings()
    assert (found.s3_access_key, found.s3_secret_key.get_secret_value()) == ("key", SECRET)
    assert found.s3_region == "us-east-1", "an empty file counts as absent"
    monkeypatch.setenv("S3_ACCESS_KEY", "of the environment")
    assert ObjectStoreSettings().s3_access_key == "of the environment"
