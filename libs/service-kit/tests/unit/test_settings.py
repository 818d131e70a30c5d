"""What a wrong setting says, and does not say."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from service_kit.settings import DatabaseSettings, MigrationSettings, RedisSettings

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
def test_a_wrong_database_url_is_refused_without_being_repeated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://service:secret@db:5432/attractor")
    monkeypatch.setenv("ADMIN_DATABASE_URL", url)
    with pytest.raises(ValidationError) as refused:
        MigrationSettings()
    assert "percent-encoding" in str(refused.value)
    assert SECRET not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    "url", [f"redis://:{SECRET}/x@redis:6379/0", f"http://:{SECRET}@redis", f"redis://[{SECRET}@x"]
)
def test_a_wrong_redis_url_is_refused_without_being_repeated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(ValidationError) as refused:
        RedisSettings()
    assert SECRET not in repr(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["postgresql://a:b%2Fc@h1:5432,h2:5433/x", "postgresql:///x?host=/run/postgresql", "host=db user=a password=b"],
)
def test_every_form_of_a_database_url_is_taken(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert DatabaseSettings().database_url.get_secret_value() == url
