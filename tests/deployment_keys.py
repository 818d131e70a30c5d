"""The token keys of a test deployment: each service's private key, and the public halves of all."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from contracts.registry import GATEWAY, INGESTION, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR, RETRIEVAL
from service_kit.settings import TokenSettings
from service_kit.token_keys import SigningKey
from service_kit.tokens import Tokens

SERVICES = (GATEWAY, ORCHESTRATOR, INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY)
ACTORS = (ORCHESTRATOR, RETRIEVAL, KNOWLEDGE_GRAPH)  # services that call others on behalf of users
DELEGATED = timedelta(hours=1)


def _new_keys() -> Mapping[str, str]:
    return {service: secrets.token_hex(32) for service in SERVICES}


@dataclass(frozen=True)
class DeploymentKeys:
    """Token keys; `private` is the key of each service, as in its settings."""

    private: Mapping[str, str] = field(default_factory=_new_keys)

    @property
    def public(self) -> str:
        return " ".join(f"{service}:{SigningKey.parse(key).public_text}" for service, key in self.private.items())

    def settings(self, service: str) -> dict[str, str]:
        """Returns a service's two token settings, by field."""
        return {"token_private_key": self.private[service], "token_public_keys": self.public}

    def environment(self, service: str) -> dict[str, str]:
        return {name.upper(): value for name, value in self.settings(service).items()}

    def tokens(self, service: str) -> Tokens:
        return Tokens(service, TokenSettings.model_validate(self.settings(service)))
