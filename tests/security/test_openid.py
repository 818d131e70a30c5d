"""Signing in at a real OpenID Connect provider, and what is refused of what comes back from it."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from sign_in_calls import HOME, NAME, OWN_PAGE, Door, member, opened_door, problem, signed_in

FOLDER = Path(__file__).with_name("openid_provider")
CLIENT, OTHER_CLIENT, SECRET = "attractor", "another", "only for tests, but as long as a secret has to be"
CALLBACK = f"{HOME}/v1/auth/openid/callback"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
STRANGERS_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
INSTALL_SECONDS = 60


def jwk() -> dict[str, Any]:
    algorithm = jwt.algorithms.RSAAlgorithm
    return {**algorithm.to_jwk(KEY, as_dict=True), "kid": "first", "alg": "RS256", "use": "sig"}


@pytest.fixture(scope="session")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The provider `oidc-provider` from npm, on a free port."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs node and npm, to run a real OpenID Connect provider")
    folder = shutil.copytree(FOLDER, tmp_path_factory.mktemp("provider") / "app")
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the package oidc-provider cannot be had: {str(error.stderr or error)[-300:]}")
    clients = [
        {"client_id": name, "client_secret": SECRET, "redirect_uris": [CALLBACK], "response_types": ["code"]}
        for name in (CLIENT, OTHER_CLIENT)
    ]
    (folder / "configuration.json").write_text(json.dumps({"keys": [jwk()], "clients": clients}), encoding="utf-8")
    with open(folder / "provider.log", "wb") as log:
        process = subprocess.Popen(
            ["node", "provider.mjs", "configuration.json"], cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdout is not None
    try:
        told = process.stdout.readline().strip()
        assert told.startswith("http://127.0.0.1:"), (folder / "provider.log").read_text(encoding="utf-8")
        yield told
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture
def make_door(make_database, redis_url, token_keys, issuer) -> Callable[..., Any]:
    database = make_database("gateway")
    settings = {
        "public_url": HOME,
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "oidc_allowed_domains": ["example.org"],
    }
    return lambda **changes: opened_door(database, redis_url, token_keys, **(settings | changes))


@pytest.fixture
async def door(make_door) -> AsyncIterator[Door]:
    async with make_door() as opened:
        yield opened


async def at_provider(location: str, login: str) -> str:
    """Signs in on the provider's own pages, as a person does; returns the address that it redirects to at the end."""
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        url = location
        for _ in range(12):
            page = await http.get(url)
            while page.status_code in (302, 303):
                url = str(httpx2.URL(url).join(page.headers["location"]))
                if url.startswith(CALLBACK):
                    return url
                page = await http.get(url)
            assert page.status_code == 200, page.text
            prompt = "login" if 'value="login"' in page.text else "consent"
            answer = await http.post(url, data={"prompt": prompt, "login": login, "password": "any"})
            url = str(httpx2.URL(url).join(answer.headers["location"]))
            if url.startswith(CALLBACK):
                return url
    raise AssertionError("the provider did not come to an end")


async def begun(browser: httpx2.AsyncClient, **query: str) -> str:
    """Begins a sign-in; returns the provider's address that the browser is sent to."""
    answer = await browser.get("/v1/auth/openid", params=query)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def come_in(browser: httpx2.AsyncClient, login: str, **query: str) -> httpx2.Response:
    return await browser.get(await at_provider(await begun(browser, **query), login))


async def test_a_user_of_the_provider_comes_in_and_is_the_same_user_again(door: Door) -> None:
    first, again = door.browser(), door.browser()
    arrived = await come_in(first, "ada")
    assert arrived.status_code == 200, arrived.text
    assert 'content="0;url=/"' in arrived.text
    assert "sandbox" not in arrived.headers["content-security-policy"]
    cookies = arrived.headers.get_list("set-cookie")
    assert any(one.startswith(f"{NAME}=") and "samesite=strict" in one.lower() for one in cookies)
    user = (await first.get("/v1/auth/session")).json()
    assert (user["user"]["name"], user["session"]["method"]) == ("ada of the provider", "openid")
    assert (await come_in(again, "ada")).status_code == 200
    assert (await again.get("/v1/auth/session")).json()["user"]["id"] == user["user"]["id"]


async def test_the_request_carries_pkce_state_and_nonce_and_its_cookie_is_bound_to_the_browser(door: Door) -> None:
    answer = await door.browser().get("/v1/auth/openid")
    query = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
    assert all(len(query[name]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert query["redirect_uri"] == CALLBACK
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


async def test_by_default_only_the_invited_come_in(make_door) -> None:
    async with make_door(oidc_allowed_domains=[]) as door:
        assert problem(await come_in(door.browser(), "ada")) == (403, "not-invited")
        admin = door.admin()
        place = (await admin.get("/v1/me")).json()["workspace"]["id"]
        made = await admin.post(f"/v1/workspaces/{place}/invitations", json={"role": "viewer"})
        browser, token = door.browser(), made.json()["token"]
        assert (await come_in(browser, "ada", invitation=token)).status_code == 200
        assert (await browser.get("/v1/me")).json()["role"] == "viewer"
        assert problem(await come_in(door.browser(), "eve", invitation=token)) == (409, "invitation-used")
        assert (await come_in(door.browser(), "ada")).status_code == 200


@pytest.mark.parametrize(("login", "domains"), [("unverified", ["example.org"]), ("ada", ["other.example"])])
async def test_an_address_that_is_not_verified_or_of_another_domain_lets_nobody_in(make_door, login, domains) -> None:
    async with make_door(oidc_allowed_domains=domains) as door:
        assert problem(await come_in(door.browser(), login)) == (403, "not-invited")


async def test_an_equal_address_or_name_takes_no_account_over(door: Door) -> None:
    """An account is found by issuer and subject alone."""
    victim = await member(door, "ada of the provider")
    door.sql("UPDATE app_user SET email = 'ada@example.org' WHERE id = %s", victim)
    browser = door.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    assert (await browser.get("/v1/auth/session")).json()["user"]["id"] != victim


async def test_a_signed_in_user_gets_the_identity_only_on_asking_and_nobody_gets_a_taken_one(door: Door) -> None:
    user = await member(door, "Ada")
    await member(door, "Eve")
    browser, eve = await signed_in(door, "Ada"), await signed_in(door, "Eve")
    assert problem(await door.browser().get("/v1/auth/openid", params={"link": "true"})) == (403, "web-session-needed")
    assert (await come_in(browser, "ada", link="true")).status_code == 200
    other = door.browser()
    assert (await come_in(other, "ada")).status_code == 200
    assert (await other.get("/v1/auth/session")).json()["user"]["id"] == user
    assert problem(await come_in(eve, "ada", link="true")) == (409, "identity-taken")
    # Someone else at the same browser, without asking for it
    assert (await come_in(browser, "bob")).status_code == 200
    assert (await browser.get("/v1/auth/session")).json()["user"]["id"] != user


async def test_a_disabled_user_stays_out(door: Door) -> None:
    browser = door.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    user = (await browser.get("/v1/auth/session")).json()["user"]["id"]
    door.sql("UPDATE app_user SET disabled_at = now() WHERE id = %s", user)
    assert problem(await browser.get("/v1/auth/session")) == (401, "session-ended")
    assert problem(await come_in(door.browser(), "ada")) == (403, "not-invited")


async def test_another_state_another_browser_and_a_second_use_are_refused(door: Door) -> None:
    browser = door.browser()
    back = await at_provider(await begun(browser), "ada")
    state = parse_qs(urlsplit(back).query)["state"][0]
    for address in (back.replace(state, "x" * 43), back.replace(f"state={state}", "")):
        other = door.browser()
        await begun(other)
        assert problem(await other.get(address)) == (403, "openid-request-unknown")
    # The attacker's own code and state, in the victim's browser: signing in as somebody else unawares
    assert problem(await door.browser().get(back)) == (403, "openid-request-unknown")
    cookie = browser.cookies["attractor_openid"]
    assert (await browser.get(back)).status_code == 200
    assert "attractor_openid" not in browser.cookies
    replayed = await door.browser().get(back, headers={"Cookie": f"attractor_openid={cookie}"})
    assert problem(replayed) == (403, "openid-request-unknown")


async def test_a_code_is_refused_in_another_sign_in(door: Door) -> None:
    """The provider refuses a code that was used, and one whose code verifier is another's."""
    browser, second = door.browser(), door.browser()
    back = await at_provider(await begun(browser), "ada")
    code = parse_qs(urlsplit(back).query)["code"][0]

    async def brought_elsewhere() -> tuple[int, str]:
        other = await at_provider(await begun(second), "eve")
        own = parse_qs(urlsplit(other).query)["code"][0]
        return problem(await second.get(other.replace(own, code)))

    assert await brought_elsewhere() == (403, "openid-refused")
    assert (await browser.get(back)).status_code == 200
    assert await brought_elsewhere() == (403, "openid-refused")


async def test_a_sign_in_that_took_too_long_is_refused(door: Door) -> None:
    browser = door.browser()
    back = await at_provider(await begun(browser), "ada")
    door.sql("UPDATE openid_request SET expires_at = now()")
    assert problem(await browser.get(back)) == (403, "openid-request-unknown")


async def test_an_answer_of_another_provider_is_refused(door: Door) -> None:
    """Mix-up (RFC 9207): the issuer in the answer is that of the request."""
    for wrong in ("https://evil.example", None):
        browser = door.browser()
        back = httpx2.URL(await at_provider(await begun(browser), "ada"))
        query = {name: value for name, value in back.params.items() if name != "iss"}
        answer = await browser.get(CALLBACK, params=query | ({"iss": wrong} if wrong else {}))
        assert problem(answer) == (403, "openid-refused")


async def test_what_the_provider_denies_is_shown_with_its_reason(door: Door, issuer: str) -> None:
    browser = door.browser()
    state = parse_qs(urlsplit(await begun(browser)).query)["state"][0]
    answer = await browser.get(CALLBACK, params={"state": state, "error": "access_denied", "iss": issuer})
    assert problem(answer) == (403, "openid-refused")
    assert "access_denied" in answer.json()["detail"]


@dataclass
class Tampering(httpx2.AsyncBaseTransport):
    """Changes what the provider answers, with the provider's own key at hand."""

    change: Callable[[str, dict[str, Any]], dict[str, Any]]
    seen: list[str]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request.url.path)
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.request(
                request.method, request.url, headers=dict(request.headers), content=await request.aread()
            )
        return httpx2.Response(answer.status_code, json=self.change(request.url.path, answer.json()))


def tamper(door: Door, change: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Tampering:
    """Puts itself between the gateway and the provider."""
    transport = Tampering(change, [])
    door.app.state.openid_sign_ins.provider.client._transport = transport
    return transport


def with_token(make: Callable[[dict[str, Any]], str]) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """Returns a change that replaces the ID token by what `make` makes of its claims."""

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
    """HS256 with the provider's public key, known to everyone, as the secret; the library refuses to make it."""
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
async def test_a_token_that_is_not_for_this_sign_in_is_refused(door: Door, make: Callable[..., str]) -> None:
    tamper(door, with_token(make))
    browser = door.browser()
    assert problem(await come_in(browser, "ada")) == (403, "openid-token-invalid")
    assert NAME not in browser.cookies


async def test_a_token_signed_again_with_the_providers_key_is_accepted(door: Door) -> None:
    """The tampering itself is not what is refused above."""
    tamper(door, with_token(signed))
    assert (await come_in(door.browser(), "ada")).status_code == 200


async def test_further_claims_are_of_the_same_user(door: Door) -> None:
    tamper(door, lambda path, body: body | {"sub": "eve"} if path == "/me" else body)
    assert problem(await come_in(door.browser(), "ada")) == (403, "openid-token-invalid")


async def test_keys_are_cached_and_looked_up_again_when_they_rotate(door: Door, monkeypatch) -> None:
    transport = tamper(door, lambda _, body: body)
    for login in ("ada", "bob"):
        assert (await come_in(door.browser(), login)).status_code == 200
    assert transport.seen.count("/jwks") == 1
    assert transport.seen.count("/.well-known/openid-configuration") == 1
    new = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    published = {**jwt.algorithms.RSAAlgorithm.to_jwk(new.public_key(), as_dict=True), "kid": "second"}

    def rotated(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/jwks":
            return {"keys": [*body["keys"], published]}
        return with_token(lambda claims: signed(claims, new, "second"))(path, body)

    transport.change = rotated
    refused = await come_in(door.browser(), "ada")  # not yet: anyone could make us ask for a key by inventing its name
    assert problem(refused) == (403, "openid-token-invalid")
    monkeypatch.setattr("gateway.signin.openid.provider.LOOK_AGAIN_SECONDS", 0.0)
    assert (await come_in(door.browser(), "ada")).status_code == 200
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
async def test_a_description_that_is_not_the_providers_is_not_used(door: Door, change: dict[str, Any]) -> None:
    tamper(door, lambda _, body: body | change)
    assert problem(await door.browser().get("/v1/auth/openid")) == (502, "openid-provider-silent")


async def test_a_provider_that_is_away_has_a_name(make_door) -> None:
    async with make_door(oidc_issuer="http://127.0.0.1:1") as door:
        assert problem(await door.browser().get("/v1/auth/openid")) == (502, "openid-provider-silent")


async def test_without_a_provider_there_is_no_such_way_in(make_door) -> None:
    async with make_door(oidc_issuer=None) as door:
        assert problem(await door.browser().get("/v1/auth/openid")) == (404, "openid-not-configured")
        answer = await door.browser().get(CALLBACK, params={"state": "x", "code": "y"})
        assert problem(answer) == (404, "openid-not-configured")


async def test_beginnings_are_limited_by_address(make_door) -> None:
    async with make_door(sign_in_attempts_per_address=3) as door:
        answers = await asyncio.gather(*(door.browser().get("/v1/auth/openid") for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [303] * 3 + [429] * 2
        assert (await door.browser("203.0.113.9").get("/v1/auth/openid")).status_code == 303


async def test_a_session_before_the_sign_in_is_dead_after_it(door: Door) -> None:
    browser = door.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    old = browser.cookies[NAME]
    assert (await come_in(browser, "ada")).status_code == 200
    assert browser.cookies[NAME] != old
    assert (await door.browser().get("/v1/auth/session", headers={"Cookie": f"{NAME}={old}"})).status_code == 401
    assert (await browser.post("/v1/auth/sign-out", headers=OWN_PAGE)).status_code == 204
