import pytest
from deployment_keys import DeploymentKeys
from pydantic import ValidationError

from gateway.settings import Settings

ENVIRONMENT = {
    **DeploymentKeys().environment("gateway"),
    "DATABASE_URL": "postgresql://x",
    "REDIS_URL": "redis://x",
    **{f"{name}_URL": "http://x" for name in ("INGESTION", "RETRIEVAL", "KNOWLEDGE_GRAPH", "MEMORY", "ORCHESTRATOR")},
}


@pytest.fixture
def environment(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ADMIN_API_KEY", raising=False)
    monkeypatch.delenv("ADMIN_KEY_FILE", raising=False)
    return monkeypatch


def test_neither_a_key_nor_a_key_file_is_required_once_there_is_an_administrator(environment):
    assert Settings().admin_api_key is None
    environment.setenv("ADMIN_KEY_FILE", "/data/admin-key")
    assert str(Settings().admin_key_file) == "/data/admin-key"


def test_a_weak_key_is_rejected_without_repeating_it(environment):
    environment.setenv("ADMIN_API_KEY", "changeme-password")
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert "openssl rand" in str(raised.value)
    assert "changeme-password" not in str(raised.value.errors(include_input=False))


def test_origins_are_separated_by_commas(environment):
    environment.setenv("CORS_ORIGINS", "https://a.example, https://b.example")
    assert Settings().cors_origins == ["https://a.example", "https://b.example"]
