"""Signing in at a real OpenID Connect provider."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from openid_calls import CALLBACK, at_provider, come_in, start_sign_in
from sign_in_calls import NAME, OWN_PAGE, LoneGateway, member, problem, signed_in


async def test_a_user_of_the_provider_signs_in_and_is_the_same_user_next_time(gateway: LoneGateway) -> None:
    first, again = gateway.browser(), gateway.browser()
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


async def test_the_request_carries_pkce_state_and_nonce_and_its_cookie_is_bound_to_the_browser(
    gateway: LoneGateway,
) -> None:
    answer = await gateway.browser().get("/v1/auth/openid")
    query = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
    assert all(len(query[name]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert query["redirect_uri"] == CALLBACK
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


async def test_by_default_only_invited_users_may_sign_in(make_gateway) -> None:
    async with make_gateway(oidc_allowed_domains=[]) as gateway:
        assert problem(await come_in(gateway.browser(), "ada")) == (403, "not-invited")
        admin = gateway.admin()
        workspace_id = (await admin.get("/v1/me")).json()["workspace"]["id"]
        made = await admin.post(f"/v1/workspaces/{workspace_id}/invitations", json={"role": "viewer"})
        browser, token = gateway.browser(), made.json()["token"]
        assert (await come_in(browser, "ada", invitation=token)).status_code == 200
        assert (await browser.get("/v1/me")).json()["role"] == "viewer"
        assert problem(await come_in(gateway.browser(), "eve", invitation=token)) == (409, "invitation-used")
        assert (await come_in(gateway.browser(), "ada")).status_code == 200


@pytest.mark.parametrize(("login", "domains"), [("unverified", ["example.org"]), ("ada", ["other.example"])])
async def test_an_unverified_address_or_one_in_another_domain_is_refused(make_gateway, login, domains) -> None:
    async with make_gateway(oidc_allowed_domains=domains) as gateway:
        assert problem(await come_in(gateway.browser(), login)) == (403, "not-invited")


async def test_a_matching_address_or_name_does_not_take_over_an_account(gateway: LoneGateway) -> None:
    """An account is identified only by issuer and subject."""
    victim = await member(gateway, "ada of the provider")
    gateway.sql("UPDATE app_user SET email = 'ada@example.org' WHERE id = %s", victim)
    browser = gateway.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    assert (await browser.get("/v1/auth/session")).json()["user"]["id"] != victim


async def test_a_signed_in_user_links_an_identity_only_on_request_and_never_a_taken_one(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    await member(gateway, "Eve")
    browser, eve = await signed_in(gateway, "Ada"), await signed_in(gateway, "Eve")
    assert problem(await gateway.browser().get("/v1/auth/openid", params={"link": "true"})) == (
        403,
        "web-session-needed",
    )
    assert (await come_in(browser, "ada", link="true")).status_code == 200
    other = gateway.browser()
    assert (await come_in(other, "ada")).status_code == 200
    assert (await other.get("/v1/auth/session")).json()["user"]["id"] == user
    assert problem(await come_in(eve, "ada", link="true")) == (409, "identity-taken")
    # Another person in the same browser, without asking to link accounts
    assert (await come_in(browser, "bob")).status_code == 200
    assert (await browser.get("/v1/auth/session")).json()["user"]["id"] != user


async def test_a_disabled_user_cannot_sign_in(gateway: LoneGateway) -> None:
    browser = gateway.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    user = (await browser.get("/v1/auth/session")).json()["user"]["id"]
    gateway.sql("UPDATE app_user SET disabled_at = now() WHERE id = %s", user)
    assert problem(await browser.get("/v1/auth/session")) == (401, "session-ended")
    assert problem(await come_in(gateway.browser(), "ada")) == (403, "not-invited")


async def test_a_wrong_state_another_browser_and_a_second_use_are_refused(gateway: LoneGateway) -> None:
    browser = gateway.browser()
    back = await at_provider(await start_sign_in(browser), "ada")
    state = parse_qs(urlsplit(back).query)["state"][0]
    for address in (back.replace(state, "x" * 43), back.replace(f"state={state}", "")):
        other = gateway.browser()
        await start_sign_in(other)
        assert problem(await other.get(address)) == (403, "openid-request-unknown")
    # The attacker's own code and state in the victim's browser would sign the victim in as the attacker
    assert problem(await gateway.browser().get(back)) == (403, "openid-request-unknown")
    cookie = browser.cookies["attractor_openid"]
    assert (await browser.get(back)).status_code == 200
    assert "attractor_openid" not in browser.cookies
    replayed = await gateway.browser().get(back, headers={"Cookie": f"attractor_openid={cookie}"})
    assert problem(replayed) == (403, "openid-request-unknown")


async def test_a_code_from_another_sign_in_is_refused(gateway: LoneGateway) -> None:
    """The provider refuses a used code, and one with another sign-in's code verifier."""
    browser, second = gateway.browser(), gateway.browser()
    back = await at_provider(await start_sign_in(browser), "ada")
    code = parse_qs(urlsplit(back).query)["code"][0]

    async def brought_elsewhere() -> tuple[int, str]:
        other = await at_provider(await start_sign_in(second), "eve")
        own = parse_qs(urlsplit(other).query)["code"][0]
        return problem(await second.get(other.replace(own, code)))

    assert await brought_elsewhere() == (403, "openid-refused")
    assert (await browser.get(back)).status_code == 200
    assert await brought_elsewhere() == (403, "openid-refused")


async def test_a_sign_in_that_took_too_long_is_refused(gateway: LoneGateway) -> None:
    browser = gateway.browser()
    back = await at_provider(await start_sign_in(browser), "ada")
    gateway.sql("UPDATE openid_request SET expires_at = now()")
    assert problem(await browser.get(back)) == (403, "openid-request-unknown")


async def test_a_response_from_another_provider_is_refused(gateway: LoneGateway) -> None:
    """Prevents the mix-up attack (RFC 9207): the response must name the issuer of the request."""
    for wrong in ("https://evil.example", None):
        browser = gateway.browser()
        back = httpx2.URL(await at_provider(await start_sign_in(browser), "ada"))
        query = {name: value for name, value in back.params.items() if name != "iss"}
        answer = await browser.get(CALLBACK, params=query | ({"iss": wrong} if wrong else {}))
        assert problem(answer) == (403, "openid-refused")


async def test_a_denial_by_the_provider_is_shown_with_its_reason(gateway: LoneGateway, issuer: str) -> None:
    browser = gateway.browser()
    state = parse_qs(urlsplit(await start_sign_in(browser)).query)["state"][0]
    answer = await browser.get(CALLBACK, params={"state": state, "error": "access_denied", "iss": issuer})
    assert problem(answer) == (403, "openid-refused")
    assert "access_denied" in answer.json()["detail"]


async def test_a_provider_outage_is_reported_by_name(make_gateway) -> None:
    async with make_gateway(oidc_issuer="http://127.0.0.1:1") as gateway:
        assert problem(await gateway.browser().get("/v1/auth/openid")) == (502, "openid-provider-silent")


async def test_without_a_provider_its_routes_do_not_exist(make_gateway) -> None:
    async with make_gateway(oidc_issuer=None) as gateway:
        assert problem(await gateway.browser().get("/v1/auth/openid")) == (404, "openid-not-configured")
        answer = await gateway.browser().get(CALLBACK, params={"state": "x", "code": "y"})
        assert problem(answer) == (404, "openid-not-configured")


async def test_sign_in_attempts_are_rate_limited_by_address(make_gateway) -> None:
    async with make_gateway(sign_in_attempts_per_address=3) as gateway:
        answers = await asyncio.gather(*(gateway.browser().get("/v1/auth/openid") for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [303] * 3 + [429] * 2
        assert (await gateway.browser("203.0.113.9").get("/v1/auth/openid")).status_code == 303


async def test_a_session_from_before_the_sign_in_is_invalid_afterwards(gateway: LoneGateway) -> None:
    browser = gateway.browser()
    assert (await come_in(browser, "ada")).status_code == 200
    old = browser.cookies[NAME]
    assert (await come_in(browser, "ada")).status_code == 200
    assert browser.cookies[NAME] != old
    assert (await gateway.browser().get("/v1/auth/session", headers={"Cookie": f"{NAME}={old}"})).status_code == 401
    assert (await browser.post("/v1/auth/sign-out", headers=OWN_PAGE)).status_code == 204
