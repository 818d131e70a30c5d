"""The OpenID Connect provider: its description, its keys, and the exchange of a code for tokens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote_plus

import httpx2
from pydantic import BaseModel, ValidationError

from gateway.errors import OpenIdProviderSilent, OpenIdRefused
from gateway.signin.origins import is_loopback_url

Model = TypeVar("Model", bound=BaseModel)
CALLBACK = "/v1/auth/openid/callback"
DESCRIPTION = "/.well-known/openid-configuration"
FRESH_SECONDS = 3600.0
# The shortest interval between two lookups of unknown keys: anyone can send a token with an invented key id
LOOK_AGAIN_SECONDS = 30.0
MOST_BYTES = 2**20
TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class ClientRegistration:
    """The deployment's registration at the provider. Without a secret it is a public client, which PKCE protects."""

    issuer: str
    client_id: str
    client_secret: str | None
    redirect_uri: str


class ProviderDescription(BaseModel):
    """The fields of OpenID Connect Discovery 1.0 that are used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False


class TokenAnswer(BaseModel):
    id_token: str
    access_token: str | None = None


class OpenIdProvider:
    """Raises OpenIdProviderSilent if the provider does not answer, or not in a usable way."""

    def __init__(self, registration: ClientRegistration, client: httpx2.AsyncClient) -> None:
        self.registration, self.client = registration, client
        self.lock = asyncio.Lock()
        self.described: tuple[float, ProviderDescription] | None = None
        self.keys: tuple[float, list[Mapping[str, Any]]] | None = None

    async def description(self) -> ProviderDescription:
        """Returns the provider's description, fetched at most hourly."""
        async with self.lock:
            if self.described is None or time.monotonic() - self.described[0] > FRESH_SECONDS:
                url = self.registration.issuer.rstrip("/") + DESCRIPTION
                description = _parsed(ProviderDescription, await self._json("GET", url))
                self._must_be_usable(description)
                self.described = time.monotonic(), description
            return self.described[1]

    async def keys_named(self, key_id: str | None) -> list[Mapping[str, Any]]:
        """Returns the provider's keys with this id, or all without one; fetches them again if the id is unknown."""
        url = (await self.description()).jwks_uri
        async with self.lock:
            age = time.monotonic() - self.keys[0] if self.keys else FRESH_SECONDS + 1
            found = _named(self.keys[1], key_id) if self.keys else []
            if age > FRESH_SECONDS or (not found and age > LOOK_AGAIN_SECONDS):
                answer = await self._json("GET", url)
                keys = answer.get("keys")
                if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
                    raise OpenIdProviderSilent("its keys cannot be read")
                self.keys = time.monotonic(), keys
                found = _named(keys, key_id)
            return found

    async def exchange(self, code: str, code_verifier: str) -> TokenAnswer:
        """Returns the tokens for a code. Raises OpenIdRefused if the provider does not accept it."""
        registration, description = self.registration, await self.description()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": registration.redirect_uri,
            "code_verifier": code_verifier,
        }
        auth = None
        if registration.client_secret is None:
            form["client_id"] = registration.client_id
        elif "client_secret_basic" in description.token_endpoint_auth_methods_supported:
            # percent-encoded first: RFC 6749, section 2.3.1
            auth = httpx2.BasicAuth(quote_plus(registration.client_id), quote_plus(registration.client_secret))
        else:
            form |= {"client_id": registration.client_id, "client_secret": registration.client_secret}
        return _parsed(TokenAnswer, await self._json("POST", description.token_endpoint, data=form, auth=auth))

    async def user_info(self, access_token: str) -> dict[str, Any]:
        """Returns further claims; none if the provider has no such endpoint."""
        url = (await self.description()).userinfo_endpoint
        if url is None:
            return {}
        return await self._json("GET", url, headers={"Authorization": f"Bearer {access_token}"})

    def _must_be_usable(self, description: ProviderDescription) -> None:
        """Rejects the description of another issuer (mix-up), and addresses that are not confidential."""
        if description.issuer != self.registration.issuer:
            raise OpenIdProviderSilent("it describes another issuer than OIDC_ISSUER")
        local = is_loopback_url(description.issuer)
        endpoints = (description.authorization_endpoint, description.token_endpoint, description.jwks_uri)
        for url in filter(None, (*endpoints, description.userinfo_endpoint)):
            if not (url.startswith("https://") or (local and is_loopback_url(url))):
                raise OpenIdProviderSilent("it names an address that is not https")

    async def _json(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        """Returns the response's JSON. Follows no redirect and reads at most a megabyte."""
        try:
            async with self.client.stream(method, url, **more) as response:
                content = b""
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > MOST_BYTES:
                        raise OpenIdProviderSilent("its answer is too long")
            answer = httpx2.Response(response.status_code, content=content)
            if method == "POST" and answer.status_code in (400, 401):
                raise OpenIdRefused("the provider did not accept the code, or this client")
            if answer.status_code != 200:
                raise OpenIdProviderSilent(f"it answered with status {answer.status_code}")
            body = answer.json()
        except httpx2.HTTPError as error:
            raise OpenIdProviderSilent(type(error).__name__) from error
        except ValueError as error:
            raise OpenIdProviderSilent("its answer is not JSON") from error
        if not isinstance(body, dict):
            raise OpenIdProviderSilent("its answer is not a JSON object")
        return body


def new_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False)


def _named(keys: list[Mapping[str, Any]], key_id: str | None) -> list[Mapping[str, Any]]:
    return [key for key in keys if key_id is None or key.get("kid") == key_id]


def _parsed(model: type[Model], answer: dict[str, Any]) -> Model:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        raise OpenIdProviderSilent("its answer lacks what OpenID Connect requires") from error
