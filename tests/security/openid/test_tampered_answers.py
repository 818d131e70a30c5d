"""Tampered responses of an OpenID Connect provider are refused."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from openid_calls import CLIENT, KEY, OTHER_CLIENT, SECRET, STRANGERS_KEY, come_in
from sign_in_calls import NAME, LoneGateway, problem


@dataclass
class Tampering(httpx2.AsyncBaseTransport):
    """Changes the provider's responses, with access to the provider's own key."""

    change: Callable[[str, dict[str, Any]], dict[str, Any]]
    seen: list[str]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request.url.path)
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.request(
                request.method, request.url, headers=dict(request.headers), content=await request.aread()
            )
        return httpx2.Response(answer.status_code, json=self.change(request.url.path, answer.json()))


def tamper(gateway: LoneGateway, change: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Tampering:
    """Intercepts the responses between the provider and the gateway."""
    transport = Tampering(change, [])
    gateway.app.state.openid_sign_ins.provider.client._transport = transport
    return transport


def with_token(make: Callable[[dict[str, Any]], str]) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """Returns a change that replaces the ID token by the result of `make` on its claims."""

    def change(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path != "/token":
            return body
        claims = jwt.decode(body["id_token"], options={"verify_signature": False})
        return body | {"id_token": make(claims)}

    return change


def signed(claims: dict[str, Any], key: Any = KEY, kid: str | None = "first", algorithm: str = "RS256") -> str:
    return jwt.encode(claims, key, algorithm, headers={"kid": kid} if kid else {})


def unsigned(claims: dict[str, Any]) -> str:
    parts = ({"alg": "none", "typ": "JWT", "kid": "first"}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, ""])


def signed_with_the_public_key(claims: dict[str, Any]) -> str:
    """Signs with HS256 and the provider's public key as the secret; built by hand, because the library refuses to."""
    header, payload, _ = jwt.encode(claims, "x" * 32, "HS256", headers={"kid": "first"}).split(".")
    form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    digest = hmac.digest(KEY.public_key().public_bytes(*form), f"{header}.{payload}".encode(), "sha256")
    return ".".join([header, payload, base64.urlsafe_b64encode(digest).decode().rstrip("=")])


NOW = int(time.time())


@pytest.mark.parametrize(
    "make",
    [
        lambda claims: signed(claims | {"nonce": "x" * 43}),
        lambda claims: signed({name: value for name, value in claims.items() if name != "nonce"}),
        lambda claims: signed(claims | {"aud": OTHER_CLIENT}),
        lambda claims: signed(claims | {"aud": [CLIENT, OTHER_CLIENT]}),
        lambda claims: signed(claims | {"aud": [CLIENT, OTHER_CLIENT], "azp": OTHER_CLIENT}),
        lambda claims: signed(claims | {"iss": "https://evil.example"}),
        lambda claims: signed(claims | {"exp": NOW - 3600, "iat": NOW - 7200}),
        lambda claims: signed(claims | {"iat": NOW + 7200, "exp": NOW + 10_000}),
        lambda claims: signed({name: value for name, value in claims.items() if name != "exp"}),
        lambda claims: signed(claims | {"sub": ""}),
        lambda claims: signed({name: value for name, value in claims.items() if name != "sub"}),
        lambda claims: signed(claims, STRANGERS_KEY),
        lambda claims: signed(claims, STRANGERS_KEY, kid="unknown"),
        lambda claims: signed(claims, KEY, algorithm="PS256"),
        signed_with_the_public_key,
        lambda claims: signed(claims, SECRET, algorithm="HS256"),
        unsigned,
        lambda _: "no token",
    ],
    ids=[
        "another nonce", "no nonce", "another audience", "two audiences", "another party", "another issuer", "expired",
        "from the future", "no end", "no subject", "without a subject", "another key", "an unknown key",
        "another algorithm", "the public key as a secret", "the client's secret", "unsigned", "nonsense",
    ],
)  # fmt: skip
async def test_a_token_issued_for_another_sign_in_is_refused(gateway: LoneGateway, make: Callable[..., str]) -> None:
    tamper(gateway, with_token(make))
    browser = gateway.browser()
    assert problem(await come_in(browser, "ada")) == (403, "openid-token-invalid")
    assert NAME not in browser.cookies


async def test_a_token_signed_again_with_the_providers_key_is_accepted(gateway: LoneGateway) -> None:
    """Shows that the tests above do not fail merely because of the interception."""
    tamper(gateway, with_token(signed))
    assert (await come_in(gateway.browser(), "ada")).status_code == 200


async def test_additional_claims_belong_to_the_same_user(gateway: LoneGateway) -> None:
    tamper(gateway, lambda path, body: body | {"sub": "eve"} if path == "/me" else body)
    assert problem(await come_in(gateway.browser(), "ada")) == (403, "openid-token-invalid")


async def test_keys_are_cached_and_fetched_again_after_rotation(gateway: LoneGateway, monkeypatch) -> None:
    transport = tamper(gateway, lambda _, body: body)
    for login in ("ada", "bob"):
        assert (await come_in(gateway.browser(), login)).status_code == 200
    assert transport.seen.count("/jwks") == 1
    assert transport.seen.count("/.well-known/openid-configuration") == 1
    new = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    published = {**jwt.algorithms.RSAAlgorithm.to_jwk(new.public_key(), as_dict=True), "kid": "second"}

    def rotated(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/jwks":
            return {"keys": [*body["keys"], published]}
        return with_token(lambda claims: signed(claims, new, "second"))(path, body)

    transport.change = rotated
    refused = await come_in(gateway.browser(), "ada")  # not yet: anyone could trigger fetches with an invented key id
    assert problem(refused) == (403, "openid-token-invalid")
    monkeypatch.setattr("gateway.signin.openid.provider.LOOK_AGAIN_SECONDS", 0.0)
    assert (await come_in(gateway.browser(), "ada")).status_code == 200
    assert transport.seen.count("/jwks") == 2


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://192.0.2.1/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": None},
    ],
)
async def test_a_tampered_discovery_document_is_refused(gateway: LoneGateway, change: dict[str, Any]) -> None:
    tamper(gateway, lambda _, body: body | change)
    assert problem(await gateway.browser().get("/v1/auth/openid")) == (502, "openid-provider-silent")
