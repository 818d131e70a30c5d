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


def test_neither_a_key_nor_a_key_file_is_required_once_an_administrator_exists(environment):
    assert Settings().admin_api_key is None
    environment.setenv("ADMIN_KEY_FILE", "/data/admin-key")
    assert str(Settings().admin_key_file) == "/data/admin-key"


def test_a_weak_key_is_rejected_without_being_shown(environment):
    environment.setenv("ADMIN_API_KEY", "changeme-password")
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert "openssl rand" in str(raised.value)
    assert "changeme-password" not in str(raised.value.errors(include_input=False))


def test_origins_are_separated_by_commas(environment):
    environment.setenv("CORS_ORIGINS", "https://a.example, https://b.example")
    assert Settings().cors_origins == ["https://a.example", "https://b.example"]


@pytest.mark.parametrize("origins", ["*", "https://a.example,*", "https://*.example"])
def test_a_wildcard_origin_is_refused(environment, origins):
    """Regression: `CORS_ORIGINS=*` was accepted although the gateway uses cookies."""
    environment.setenv("CORS_ORIGINS", origins)
    with pytest.raises(ValidationError, match="must name each origin"):
        Settings()


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("https://attractor.example.org", True),
        ("https://attractor.example.org:8443/", True),
        ("http://localhost:8080", True),
        ("http://127.0.0.1:8080", True),
        ("http://attractor.example.org", False),
        ("https://attractor.example.org/path", False),
        ("https://user@attractor.example.org", False),
        ("attractor.example.org", False),
        ("ftp://localhost", False),
    ],
)
def test_the_public_url_must_be_https_or_local(environment, url, accepted):
    environment.setenv("PUBLIC_URL", url)
    if accepted:
        assert Settings().public_url == url.rstrip("/")
    else:
        with pytest.raises(ValidationError, match="public_url"):
            Settings()


@pytest.mark.parametrize("host", ["https://a.example", "*.example", "a.example:80", "a/b"])
def test_allowed_hosts_must_be_host_names(environment, host):
    environment.setenv("ALLOWED_HOSTS", host)
    with pytest.raises(ValidationError, match="not a host name"):
        Settings()
