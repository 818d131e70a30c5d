"""The gateway's settings, read from the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from gateway.accounts.key_format import valid_operator_key
from gateway.signin.openid.provider import CALLBACK, ClientRegistration
from gateway.signin.origins import host_name, is_loopback_url
from service_kit.settings import EventSettings, ServiceSettings, TlsSettings

MEBIBYTE = 2**20


class Settings(ServiceSettings, EventSettings, TlsSettings):
    """Sizes are in bytes, times in seconds."""

    port: int = 8080
    private_port: int = 9100
    """The port of /readyz and /metrics; must not be reachable from outside"""
    ingestion_url: str
    retrieval_url: str
    knowledge_graph_url: str
    memory_url: str
    orchestrator_url: str

    admin_api_key: SecretStr | None = Field(
        None,
        description="A generated API key to add for the administrator; not needed after the first start",
    )
    admin_key_file: Path | None = Field(
        None, description="Without ADMIN_API_KEY: where to write a generated key if no administrator has access"
    )

    max_connections_per_address: int = Field(
        256, gt=0, description="Connections from one client address; the proxies in FORWARDED_ALLOW_IPS are not limited"
    )
    max_body_bytes: int = Field(512 * MEBIBYTE, gt=0, description="Largest upload")
    max_json_bytes: int = Field(
        4 * MEBIBYTE,
        gt=0,
        description="Largest body of any other request; eight times this for JSON that contains images",
    )
    rate_limit_per_minute: int = Field(
        600,
        ge=0,
        description="Rate-limit tokens that an API key regains per minute; an ordinary request costs one; 0: no limit",
    )
    rate_limit_burst: int = Field(600, gt=0, description="Most rate-limit tokens that an API key can accumulate")
    rate_limit_workspace_keys: int = Field(
        10, gt=0, description="All keys of a workspace together get the rate-limit tokens of this many keys"
    )
    requests_in_flight_per_key: int = Field(
        16, ge=0, description="Concurrent requests of an API key, in each gateway process; 0: no limit"
    )
    requests_in_flight_per_workspace: int = Field(
        64, ge=0, description="Concurrent requests of all keys of a workspace together; 0: no limit"
    )
    waits_in_flight_per_key: int = Field(
        32,
        ge=0,
        description="Concurrent event streams and requests with `wait` or `timeout` of an API key; 0: no limit",
    )
    waits_in_flight_per_workspace: int = Field(
        512, ge=0, description="The same for all keys of a workspace together; 0: no limit"
    )
    auth_failures_per_minute: int = Field(
        60, ge=0, description="Failed authentications per minute from one address (IPv6: one /64 network); 0: no limit"
    )

    upstream_connect_seconds: float = Field(2.0, gt=0, description="Time to connect to a service")
    # A caller may wait 300 s for a document.
    upstream_first_byte_seconds: float = Field(
        310.0, gt=0, description="Time for a service to start responding, from the end of the request's body"
    )
    upstream_connections: int = Field(
        1000, gt=0, description="Maximum connections to services, including open event streams"
    )
    status_seconds: float = Field(2.0, gt=0, description="Time for a service to answer `GET /v1/status`")

    # Longer than an internal token is valid.
    workspace_settle_seconds: float = Field(
        150.0, ge=0, description="How long after its deletion a workspace is checked for remaining data again"
    )

    public_url: str | None = Field(
        None, description="The URL of the deployment for users, such as https://attractor.example.org"
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        [],
        description="Further host names of the deployment, separated by commas; localhost and PUBLIC_URL's host are "
        "always allowed",
    )
    audit_days: int = Field(365, ge=30, description="Days that audit entries are kept")

    cors_origins: Annotated[list[str], NoDecode] = Field(
        [], description="Web origins that may call the API with a key, separated by commas; never `*`"
    )

    session_idle_seconds: int = Field(43_200, gt=0, description="A web session ends after this long without use")
    session_seconds: int = Field(604_800, gt=0, description="A web session ends this long after the user signed in")
    sign_in_attempts: int = Field(
        10, gt=0, description="Password attempts per account in quick succession; one is regained each minute"
    )
    sign_in_attempts_per_address: int = Field(
        30, gt=0, description="Password attempts per minute from one address (IPv6: one /64 network), for all accounts"
    )

    oidc_issuer: str | None = Field(None, description="URL of the OpenID Connect provider that users may sign in with")
    oidc_client_id: str | None = Field(None, description="The deployment's client id at the provider")
    oidc_client_secret: SecretStr | None = Field(None, description="Unset for a public client")
    oidc_allowed_domains: Annotated[list[str], NoDecode] = Field(
        [],
        description="E-mail domains, separated by commas, whose users need no invitation",
    )

    @field_validator("cors_origins", "allowed_hosts", "oidc_allowed_domains", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        """Splits a comma-separated list."""
        return [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else value

    @field_validator("cors_origins")
    @classmethod
    def no_wildcard(cls, value: list[str]) -> list[str]:
        if any("*" in origin for origin in value):
            raise ValueError("must name each origin: otherwise any website could call the API")
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def names(cls, value: list[str]) -> list[str]:
        for host in value:
            if host_name(host) != host.lower():
                raise ValueError(f"{host!r} is not a host name (without a scheme, a port or a wildcard)")
        return value

    @field_validator("public_url")
    @classmethod
    def confidential(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "")
        if value is None:
            return None
        if host_name(parts.netloc) is None or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError("must be a scheme and a host, such as https://attractor.example.org")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback_url(value)):
            raise ValueError("must be https: otherwise passwords and sessions could be read in transit")
        return value.rstrip("/")

    @field_validator("oidc_issuer")
    @classmethod
    def confidential_issuer(cls, value: str | None) -> str | None:
        if value and not (value.startswith("https://") or (value.startswith("http://") and is_loopback_url(value))):
            raise ValueError("must be https: otherwise anyone on the network path could sign in as any user")
        return value

    @model_validator(mode="after")
    def complete_provider(self) -> Self:
        if self.oidc_issuer and not (self.oidc_client_id and self.public_url):
            raise ValueError("OIDC_ISSUER needs OIDC_CLIENT_ID and PUBLIC_URL")
        return self

    def provider(self) -> ClientRegistration | None:
        """Returns the client registration at the OpenID Connect provider, or None without a provider."""
        if not (self.oidc_issuer and self.oidc_client_id and self.public_url):
            return None
        secret = self.oidc_client_secret.get_secret_value() if self.oidc_client_secret else None
        return ClientRegistration(self.oidc_issuer, self.oidc_client_id, secret, self.public_url + CALLBACK)

    @field_validator("admin_api_key")
    @classmethod
    def strong(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not valid_operator_key(value.get_secret_value()):
            raise ValueError(
                "must be a generated key: 48 or more hex digits, or 43 of base64 (try: openssl rand -hex 32); "
                "a key that the gateway already knows works without this setting"
            )
        return value

    def upstreams(self) -> dict[str, str]:
        """Returns the base URL of each service by its name."""
        return {
            "ingestion": self.ingestion_url,
            "retrieval": self.retrieval_url,
            "knowledge-graph": self.knowledge_graph_url,
            "memory": self.memory_url,
            "orchestrator": self.orchestrator_url,
        }
