"""Sign-in by password, attacked by foreign pages, guessers, thieves of old cookies and disabled users."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from http.cookies import SimpleCookie
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest
from argon2 import PasswordHasher
from sign_in_calls import HOME, NAME, OWN_PAGE, PASSWORD, LoneGateway, lone_gateway, member, problem, sign_in, signed_in


@pytest.fixture
def make_gateway(make_database, redis_url, token_keys) -> Callable[..., Any]:
    database = make_database("gateway")
    return lambda **changes: lone_gateway(database, changes.pop("redis_url", redis_url), token_keys, **changes)


@pytest.fixture
async def gateway(make_gateway) -> AsyncIterator[LoneGateway]:
    async with make_gateway() as opened:
        yield opened


async def test_a_user_signs_in_works_with_a_role_and_signs_out(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    me = (await browser.get("/v1/me")).json()
    assert (me["user"]["id"], me["role"], me["key_id"]) == (user, "editor", None)
    assert me["session_id"] == (await browser.get("/v1/auth/session")).json()["session"]["id"]
    assert (await browser.get(f"/v1/workspaces/{me['workspace']['id']}/members")).status_code == 403
    made = await browser.post(f"/v1/workspaces/{me['workspace']['id']}/keys", json={"name": "x"}, headers=OWN_PAGE)
    assert (made.status_code, made.json()["user_id"]) == (201, user)
    kept = dict(browser.cookies)
    assert (await browser.post("/v1/auth/sign-out", headers=OWN_PAGE)).status_code == 204
    assert NAME not in browser.cookies
    assert problem(await browser.get("/v1/me", headers={"Cookie": f"{NAME}={kept[NAME]}"})) == (401, "session-ended")


@pytest.mark.parametrize(
    ("url", "changes", "name", "secure"),
    [
        ("http://localhost:8080", {}, NAME, False),
        ("https://localhost:8080", {}, f"__Host-{NAME}", True),
        ("https://team.example", {"public_url": "https://team.example"}, f"__Host-{NAME}", True),
        # Behind a proxy that terminates TLS without saying so
        ("http://team.example", {"public_url": "https://team.example"}, f"__Host-{NAME}", True),
    ],
)
async def test_the_cookie_is_inaccessible_to_scripts_other_sites_and_other_hosts(
    make_gateway, url: str, changes: dict[str, str], name: str, secure: bool
) -> None:
    async with make_gateway(**changes) as gateway:
        await member(gateway, "Ada")
        origin = {"Origin": changes.get("public_url", url)}
        body = {"login": "Ada", "password": PASSWORD}
        answer = await gateway.browser(base_url=url).post("/v1/auth/sign-in", json=body, headers=origin)
        assert answer.status_code == 200, answer.text
        cookies = [SimpleCookie(header) for header in answer.headers.get_list("set-cookie")]
        assert [*cookies[0], *cookies[1]] == [name, name.replace("session", "browser")]
        for cookie in (cookies[0][name], *cookies[1].values()):
            assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/")
            assert bool(cookie["secure"]) is secure
            assert cookie["domain"] == ""
            assert len(cookie.value) >= 43  # 256 bits
            assert cookie.value not in answer.text


async def test_only_hashes_of_sessions_and_passwords_are_stored(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    with psycopg.connect(gateway.database) as connection:
        stored = str(connection.execute("SELECT s, p FROM gateway.web_session s, gateway.user_password p").fetchall())
    assert browser.cookies[NAME] not in stored
    assert PASSWORD not in stored
    assert "$argon2id$" in stored


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": HOME, "Sec-Fetch-Site": "cross-site"},
        {},
    ],
)
async def test_a_page_from_another_origin_cannot_change_anything(gateway: LoneGateway, headers: dict[str, str]) -> None:
    """Origin and Sec-Fetch-Site are checked on every change by a caller with a cookie."""
    await member(gateway, "Ada", role="owner")
    browser = await signed_in(gateway, "Ada")
    workspace_id = (await browser.get("/v1/me")).json()["workspace"]["id"]
    for method, path in (
        ("POST", f"/v1/workspaces/{workspace_id}/keys"),
        ("POST", "/v1/documents"),
        ("DELETE", f"/v1/workspaces/{workspace_id}"),
        ("PUT", "/v1/auth/password"),
        ("POST", "/v1/auth/sign-out"),
        ("DELETE", "/v1/auth/sessions"),
        ("POST", "/v1/auth/sign-in"),
    ):
        body = {"name": "x"} if "keys" in path else {"login": "Ada", "password": PASSWORD}
        body = {"new_password": PASSWORD} if method == "PUT" else body
        answer = await browser.request(method, path, json=body, headers=headers)
        assert problem(answer) == (403, "cross-site-request"), (method, path)
    assert (await browser.get("/v1/me")).status_code == 200


async def test_a_listed_cors_origin_may_use_keys_and_never_the_cookie(make_gateway) -> None:
    async with make_gateway(cors_origins=["https://ui.example"]) as gateway:
        await member(gateway, "Ada")
        browser = await signed_in(gateway, "Ada")
        answer = await browser.get("/v1/me", headers={"Origin": "https://ui.example"})
        assert "access-control-allow-credentials" not in answer.headers  # so browsers do not show it to the page
        refused = await browser.post("/v1/auth/sign-out", headers={"Origin": "https://ui.example"})
        assert problem(refused) == (403, "cross-site-request")


async def test_a_session_started_with_a_key_has_its_rights_and_ends_with_it(gateway: LoneGateway) -> None:
    admin = gateway.admin()
    home = (await admin.get("/v1/me")).json()["workspace"]["id"]
    made = (await admin.post(f"/v1/workspaces/{home}/keys", json={"name": "browser", "role": "viewer"})).json()
    browser = gateway.browser()
    bearer = {"Authorization": f"Bearer {made['key']}"}
    assert problem(await browser.post("/v1/auth/key", headers=bearer)) == (403, "cross-site-request")
    started = await browser.post("/v1/auth/key", headers=bearer | OWN_PAGE)
    assert (started.status_code, started.json()["session"]["method"]) == (200, "key")
    me = (await browser.get("/v1/me")).json()
    assert (me["workspace"]["id"], me["role"], me["key_id"]) == (home, "viewer", made["id"])
    # A viewer key of the administrator has no administrator rights, and cannot create another way in
    assert (await browser.post("/v1/users", json={"name": "Eve"}, headers=OWN_PAGE)).status_code == 403
    assert (
        await browser.put("/v1/auth/password", json={"new_password": PASSWORD}, headers=OWN_PAGE)
    ).status_code == 403
    assert problem(await browser.post(f"/v1/workspaces/{home}/keys", json={"name": "x"})) == (403, "cross-site-request")
    assert (await admin.delete(f"/v1/workspaces/{home}/keys/{made['id']}")).status_code == 204
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")


async def test_a_session_requires_a_valid_key_to_start_and_can_be_ended(gateway: LoneGateway) -> None:
    browser = gateway.browser()
    bearer = {"Authorization": f"Bearer {gateway.admin_key}"}
    assert (await browser.post("/v1/auth/key", headers={"Authorization": "Bearer no"} | OWN_PAGE)).status_code == 401
    assert (await browser.post("/v1/auth/key", headers=bearer | OWN_PAGE)).status_code == 200
    kept = dict(browser.cookies)
    assert (await browser.post("/v1/auth/sign-out", headers=OWN_PAGE)).status_code == 204
    assert problem(await browser.get("/v1/me", headers={"Cookie": f"{NAME}={kept[NAME]}"})) == (401, "session-ended")
    await member(gateway, "Ada")
    by_password = await signed_in(gateway, "Ada")
    assert problem(await by_password.post("/v1/auth/key", headers=OWN_PAGE)) == (403, "key-needed")


async def test_a_code_signs_in_a_browser_once_with_the_rights_of_the_key_that_created_it(gateway: LoneGateway) -> None:
    admin = gateway.admin()
    home = (await admin.get("/v1/me")).json()["workspace"]["id"]
    made = (await admin.post(f"/v1/workspaces/{home}/keys", json={"name": "browser", "role": "viewer"})).json()
    bearer = {"Authorization": f"Bearer {made['key']}"}
    browser, second = gateway.browser(), gateway.browser()
    codes = [(await browser.post("/v1/auth/codes", headers=bearer)).json()["code"] for _ in range(2)]
    assert problem(await browser.post("/v1/auth/code", json={"code": codes[0]})) == (403, "cross-site-request")
    started = await browser.post("/v1/auth/code", json={"code": codes[0]}, headers=OWN_PAGE)
    assert (started.status_code, started.json()["session"]["method"]) == (200, "key")
    me = (await browser.get("/v1/me")).json()
    assert (me["workspace"]["id"], me["role"], me["key_id"]) == (home, "viewer", made["id"])
    # A session cannot create another way in
    assert problem(await browser.post("/v1/auth/codes", headers=OWN_PAGE)) == (403, "key-needed")
    again = await second.post("/v1/auth/code", json={"code": codes[0]}, headers=OWN_PAGE)
    assert problem(again) == (404, "sign-in-code-not-found")
    assert (await admin.delete(f"/v1/workspaces/{home}/keys/{made['id']}")).status_code == 204
    late = await second.post("/v1/auth/code", json={"code": codes[1]}, headers=OWN_PAGE)
    assert problem(late) == (404, "sign-in-code-not-found")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "localhost.evil.example", "192.0.2.9", ""])
async def test_an_unknown_host_name_is_refused(gateway: LoneGateway, host: str) -> None:
    """Prevents DNS rebinding: an attacker's host name that resolves to this machine gets no API response."""
    await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    for path in ("/v1/me", "/v1/auth/session", "/openapi.json", "/docs", "/"):
        assert problem(await browser.get(path, headers={"Host": host})) == (400, "host-not-allowed"), path
    body = {"login": "Ada", "password": PASSWORD}
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert problem(await browser.post("/v1/auth/sign-in", json=body, headers=headers)) == (400, "host-not-allowed")
    assert (await gateway.admin().get("/v1/me", headers={"Host": host})).status_code == 200  # pages have no key
    assert (await browser.get("/livez", headers={"Host": host})).status_code == 200


async def test_a_host_name_configured_by_the_operator_is_accepted(make_gateway) -> None:
    async with make_gateway(allowed_hosts=["team.example"]) as gateway:
        assert (await gateway.browser().get("/openapi.json", headers={"Host": "TEAM.example:8080"})).status_code == 200


async def test_passwords_are_not_accepted_over_unencrypted_connections(make_gateway) -> None:
    async with make_gateway(allowed_hosts=["team.example"]) as gateway:
        await member(gateway, "Ada")
        browser = gateway.browser(base_url="http://team.example")
        body = {"login": "Ada", "password": PASSWORD}
        refused = await browser.post("/v1/auth/sign-in", json=body, headers={"Origin": "http://team.example"})
        assert problem(refused) == (403, "tls-needed")


async def test_a_cookie_from_before_the_sign_in_is_invalid_afterwards(gateway: LoneGateway) -> None:
    """Prevents session fixation: a session planted in the browser does not become the next one."""
    await member(gateway, "Ada")
    await member(gateway, "Eve")
    planted = (await signed_in(gateway, "Eve")).cookies[NAME]
    answer = await gateway.browser().post(
        "/v1/auth/sign-in",
        json={"login": "Ada", "password": PASSWORD},
        headers=OWN_PAGE | {"Cookie": f"{NAME}={planted}"},
    )
    assert answer.status_code == 200
    new = SimpleCookie(answer.headers.get_list("set-cookie")[0])[NAME].value
    assert new != planted
    assert problem(await gateway.browser().get("/v1/me", headers={"Cookie": f"{NAME}={planted}"})) == (
        401,
        "session-ended",
    )


@pytest.mark.parametrize(
    "passed",
    ["last_used_at = last_used_at - interval '12 hours 1 second'", "expires_at = expires_at - interval '7 days'"],
)
async def test_a_session_ends_after_inactivity_and_at_its_maximum_age(gateway: LoneGateway, passed: str) -> None:
    await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    assert (await browser.get("/v1/me")).status_code == 200
    gateway.sql(f"UPDATE web_session SET {passed}")
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")
    assert (await signed_in(gateway, "Ada")) is not None
    with psycopg.connect(gateway.database) as connection:
        assert connection.execute("SELECT count(*) FROM gateway.web_session").fetchone() == (1,)


async def test_activity_extends_a_session_up_to_its_maximum_age(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    for _ in range(3):
        gateway.sql("UPDATE web_session SET last_used_at = last_used_at - interval '11 hours'")
        assert (await browser.get("/v1/me")).status_code == 200


async def test_the_sessions_of_a_disabled_user_end_at_once_and_permanently(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    assert (await gateway.admin().patch(f"/v1/users/{user}", json={"disabled": True})).status_code == 200
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")
    assert problem(await sign_in(gateway.browser(), "Ada")) == (401, "wrong-credentials")
    assert (await gateway.admin().patch(f"/v1/users/{user}", json={"disabled": False})).status_code == 200
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")
    assert (await sign_in(gateway.browser(), "Ada")).status_code == 200


async def test_no_credential_of_a_deleted_user_signs_in(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    assert (await gateway.admin().delete(f"/v1/users/{user}")).status_code == 204
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")
    assert problem(await sign_in(gateway.browser(), "Ada")) == (401, "wrong-credentials")


async def test_a_user_signs_in_with_a_unique_address_set_by_an_administrator(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    admin = gateway.admin()
    patched = await admin.patch(f"/v1/users/{user}", json={"email": "Ada@example.org"})
    assert (patched.status_code, patched.json()["email"]) == (200, "Ada@example.org")
    assert (await sign_in(gateway.browser(), "ada@EXAMPLE.org")).json()["user"]["id"] == user
    taken = await admin.post("/v1/users", json={"name": "Eve", "email": "ada@example.org"})
    assert problem(taken) == (409, "email-taken")
    bad = await admin.post("/v1/users", json={"name": "Eve", "email": "no address"})
    assert problem(bad) == (422, "invalid-request")


async def test_a_removed_member_loses_the_workspace_and_stays_signed_in(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada", workspaces=2)
    browser = await signed_in(gateway, "Ada")
    first, second = (one["workspace"]["id"] for one in (await browser.get("/v1/auth/workspaces")).json()["items"])
    in_first = {"X-Workspace-Id": first}
    assert (await browser.get("/v1/me", headers=in_first)).json()["workspace"]["id"] == first
    assert (await gateway.admin().delete(f"/v1/workspaces/{first}/members/{user}")).status_code == 204
    assert (await browser.get("/v1/me", headers=in_first)).status_code == 404
    assert (await browser.get("/v1/me")).json()["workspace"]["id"] == second


async def test_a_user_in_several_workspaces_selects_one_and_reaches_no_other(gateway: LoneGateway) -> None:
    await member(gateway, "Ada", workspaces=2)
    await member(gateway, "Eve")
    browser, other = await signed_in(gateway, "Ada"), await signed_in(gateway, "Eve")
    assert problem(await browser.get("/v1/me")) == (422, "workspace-not-chosen")
    foreign = (await other.get("/v1/me")).json()["workspace"]["id"]
    for header in (foreign, str(uuid4()), "no id"):
        assert (await browser.get("/v1/me", headers={"X-Workspace-Id": header})).status_code == 404
    for path in (f"/v1/workspaces/{foreign}", f"/v1/workspaces/{foreign}/members"):
        mine = (await browser.get("/v1/auth/workspaces")).json()["items"][0]["workspace"]["id"]
        assert (await browser.get(path, headers={"X-Workspace-Id": mine})).status_code == 404


async def test_passwords_of_one_account_cannot_be_guessed_from_many_addresses(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    answers = [await sign_in(gateway.browser(f"198.51.100.{n}"), "Ada", f"guess number {n}") for n in range(12)]
    assert [problem(answer) for answer in answers[:10]] == [(401, "wrong-credentials")] * 10
    assert {problem(answer) for answer in answers[10:]} == {(429, "too-many-sign-ins")}
    assert int(answers[-1].headers["retry-after"]) > 0
    late = await sign_in(gateway.browser("203.0.113.5"), "Ada")  # even with the right password
    assert problem(late) == (429, "too-many-sign-ins")


async def test_guesses_by_a_stranger_do_not_lock_users_out_of_their_own_browsers(gateway: LoneGateway) -> None:
    """Regression: everybody shared an account's attempts, so a stranger could lock its user out."""
    for name in ("Ada", "Eve"):
        await member(gateway, name)
    own, eves = await signed_in(gateway, "Ada"), await signed_in(gateway, "Eve")
    await own.post("/v1/auth/sign-out", headers=OWN_PAGE)
    for number in range(11):
        stranger = await sign_in(gateway.browser(f"198.51.100.{number}"), "Ada", "a guess")
    assert problem(stranger) == (429, "too-many-sign-ins")
    kept = dict(own.cookies)
    assert (await sign_in(own, "Ada")).status_code == 200
    assert problem(await sign_in(eves, "Ada")) == (429, "too-many-sign-ins")  # the browser is known for Eve only
    # A modified cookie counts as none, and a thief of an intact one has no more attempts than a stranger
    thief, known = gateway.browser("203.0.113.7"), kept["attractor_browser"]
    name, ends, proof = known.split(".")
    for changed in (
        "no cookie",
        f"{name[::-1]}.{ends}.{proof}",
        f"{name}.{int(ends) + 1}.{proof}",
        f"{name}.1.{proof}",
    ):
        thief.cookies.set("attractor_browser", changed)
        assert problem(await sign_in(thief, "Ada")) == (429, "too-many-sign-ins")
    thief.cookies.set("attractor_browser", known)
    answers = [await sign_in(thief, "Ada", "a guess") for _ in range(11)]
    assert [answers[0].status_code, answers[-1].status_code] == [401, 429]


async def test_passwords_of_many_accounts_cannot_be_guessed_from_one_address(make_gateway) -> None:
    async with make_gateway(sign_in_attempts_per_address=5) as gateway:
        answers = [await sign_in(gateway.browser("2001:db8::1"), f"user {n}", "a guess") for n in range(5)]
        assert {answer.status_code for answer in answers} == {401}
        # The next address of the same customer's network
        assert (await sign_in(gateway.browser("2001:db8::2"), "another", "a guess")).status_code == 429
        assert (await sign_in(gateway.browser("2001:db8:0:1::1"), "another", "a guess")).status_code == 401


async def test_wrong_keys_count_against_the_whole_network_of_an_ipv6_address(make_gateway) -> None:
    wrong = {"Authorization": f"Bearer atr_{uuid4().hex}_{'x' * 43}"}
    async with make_gateway(auth_failures_per_minute=3) as gateway:
        answers = [await gateway.browser(f"2001:db8::{n}").get("/v1/me", headers=wrong) for n in range(1, 5)]
        assert [answer.status_code for answer in answers] == [401] * 3 + [429]
        assert (await gateway.browser("2001:db8:0:1::1").get("/v1/me", headers=wrong)).status_code == 401
        assert (await gateway.admin("2001:db8::9").get("/v1/me")).status_code == 200


async def test_attempts_are_limited_even_while_redis_is_down(make_gateway) -> None:
    """Prevents an attacker from removing the limit by taking down Redis."""
    async with make_gateway(redis_url="redis://127.0.0.1:1") as gateway:
        answers = [await sign_in(gateway.browser(f"198.51.100.{n}"), "Ada", "a guess") for n in range(12)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2


async def test_failed_sign_ins_do_not_reveal_which_users_exist(gateway: LoneGateway) -> None:
    """Status, body and headers are equal for a wrong password, no password, a disabled user and an unknown one."""
    await member(gateway, "Ada")
    disabled = await member(gateway, "Eve")
    gateway.sql("UPDATE app_user SET disabled_at = now() WHERE id = %s", disabled)
    await gateway.admin().post("/v1/users", json={"name": "without password"})
    answers = []
    for login, password in (("Ada", "wrong"), ("Eve", PASSWORD), ("without password", "x"), ("nobody", "x")):
        answer = await sign_in(gateway.browser(), login, password)
        body = {name: value for name, value in answer.json().items() if name != "trace_id"}
        answers.append((answer.status_code, body, sorted(answer.headers)))
    assert answers[0][0] == 401
    assert all(answer == answers[0] for answer in answers)


async def test_a_guess_for_an_unknown_user_costs_as_much_as_for_a_known_one(gateway: LoneGateway, monkeypatch) -> None:
    """The hash function runs once for each, with the same parameters."""
    await member(gateway, "Ada")
    passwords, costs = gateway.app.state.sign_ins.passwords, []

    def recorded(_password: str, hashed: str) -> bool:
        costs.append(hashed.rsplit("$", 2)[0])
        return False

    monkeypatch.setattr(passwords, "_matches", recorded)
    for login in ("Ada", "nobody"):
        assert (await sign_in(gateway.browser(), login, "a guess")).status_code == 401
    assert len(costs) == 2
    assert costs[0] == costs[1]


async def test_a_later_user_with_the_same_name_or_address_takes_nothing_over(gateway: LoneGateway) -> None:
    first = await member(gateway, "Ada")
    admin = gateway.admin()
    await admin.patch(f"/v1/users/{first}", json={"email": "ada@example.org"})
    for name in ("Ada", "ada@example.org"):
        user = (await admin.post("/v1/users", json={"name": name})).json()["id"]
        link = (await admin.post(f"/v1/users/{user}/password-links")).json()
        body = {"token": link["token"], "password": "eight other words of mine"}
        assert (await gateway.browser().post("/v1/auth/password-links", json=body)).status_code == 204
    for login in ("Ada", "ada@example.org", "ADA@Example.org"):
        assert (await sign_in(gateway.browser(), login)).json()["user"]["id"] == first
        assert (await sign_in(gateway.browser(), login, "eight other words of mine")).status_code == 401


async def test_a_key_for_one_workspace_does_not_give_access_to_the_whole_account(gateway: LoneGateway) -> None:
    admin = gateway.admin()
    workspace_id = (await admin.get("/v1/me")).json()["workspace"]["id"]
    weak = (await admin.post(f"/v1/workspaces/{workspace_id}/keys", json={"name": "x", "role": "viewer"})).json()["key"]
    browser = gateway.browser()
    browser.headers["Authorization"] = f"Bearer {weak}"
    refused = await browser.put("/v1/auth/password", json={"new_password": PASSWORD})
    assert problem(refused) == (403, "password-link-needed")
    assert problem(await browser.get("/v1/auth/session")) == (403, "web-session-needed")
    assert problem(await browser.post(f"/v1/users/{uuid4()}/password-links")) == (403, "admin-needed")
    assert (await admin.put("/v1/auth/password", json={"new_password": PASSWORD})).status_code == 204
    refused = await browser.put("/v1/auth/password", json={"old_password": "a guess", "new_password": PASSWORD})
    assert problem(refused) == (403, "wrong-password")
    assert (await sign_in(gateway.browser(), "admin")).status_code == 200


async def test_a_new_password_requires_the_old_one_and_ends_other_sessions(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    browser, other = await signed_in(gateway, "Ada"), await signed_in(gateway, "Ada")
    new = "nine entirely different words"
    for body, refused in (
        ({"new_password": new}, (403, "wrong-password")),
        ({"new_password": new, "old_password": "a guess"}, (403, "wrong-password")),
        ({"new_password": "password1234", "old_password": PASSWORD}, (422, "password-too-common")),
        ({"new_password": "too short", "old_password": PASSWORD}, (422, "invalid-request")),
    ):
        answer = await browser.put("/v1/auth/password", json=body, headers=OWN_PAGE)
        assert problem(answer) == refused
        assert "too short" not in answer.text
    body = {"new_password": new, "old_password": PASSWORD}
    assert (await browser.put("/v1/auth/password", json=body, headers=OWN_PAGE)).status_code == 204
    assert (await browser.get("/v1/me")).status_code == 200
    assert problem(await other.get("/v1/me")) == (401, "session-ended")
    assert (await sign_in(gateway.browser(), "Ada")).status_code == 401
    assert (await sign_in(gateway.browser(), "Ada", new)).status_code == 200


async def test_a_link_sets_a_password_once_within_a_day(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    browser = await signed_in(gateway, "Ada")
    admin = gateway.admin()

    async def use(token: str, password: str = "nine entirely different words") -> httpx2.Response:
        return await gateway.browser().post("/v1/auth/password-links", json={"token": token, "password": password})

    replaced = (await admin.post(f"/v1/users/{user}/password-links")).json()["token"]
    current = (await admin.post(f"/v1/users/{user}/password-links")).json()["token"]
    assert problem(await use(replaced)) == (404, "password-link-not-found")
    assert problem(await use(current, "password1234")) == (422, "password-too-common")
    assert (await use(current)).status_code == 204
    assert problem(await browser.get("/v1/me")) == (401, "session-ended")
    assert problem(await use(current)) == (404, "password-link-not-found")
    late = (await admin.post(f"/v1/users/{user}/password-links")).json()["token"]
    gateway.sql("UPDATE password_link SET expires_at = now()")
    assert problem(await use(late)) == (404, "password-link-not-found")


async def test_users_see_and_end_only_their_own_sessions(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    await member(gateway, "Eve")
    one, two, eve = await signed_in(gateway, "Ada"), await signed_in(gateway, "Ada"), await signed_in(gateway, "Eve")
    sessions = (await one.get("/v1/auth/sessions")).json()["items"]
    assert len(sessions) == 2
    current = (await one.get("/v1/auth/session")).json()["session"]["id"]
    [other] = [session["id"] for session in sessions if session["id"] != current]
    refused = await eve.delete(f"/v1/auth/sessions/{other}", headers=OWN_PAGE)
    assert problem(refused) == (404, "web-session-not-found")
    assert (await one.delete(f"/v1/auth/sessions/{other}", headers=OWN_PAGE)).status_code == 204
    assert (await two.get("/v1/me")).status_code == 401
    assert (await one.delete("/v1/auth/sessions", headers=OWN_PAGE)).status_code == 204
    assert (await one.get("/v1/me")).status_code == 401
    assert (await eve.get("/v1/me")).status_code == 200


async def test_sessions_have_the_rate_limit_of_their_user(make_gateway) -> None:
    async with make_gateway(rate_limit_per_minute=1, rate_limit_burst=100) as gateway:
        await member(gateway, "Ada")
        one, two = await signed_in(gateway, "Ada"), await signed_in(gateway, "Ada")
        first = await one.get("/v1/me")
        second = await two.get("/v1/me")
        assert (first.headers["ratelimit-remaining"], second.headers["ratelimit-remaining"]) == ("99", "98")


async def test_an_outdated_hash_is_replaced_at_the_next_sign_in(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    old = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    gateway.sql("UPDATE user_password SET hash = %s WHERE user_id = %s", old, user)
    assert (await sign_in(gateway.browser(), "Ada")).status_code == 200
    with psycopg.connect(gateway.database) as connection:
        [(renewed,)] = connection.execute("SELECT hash FROM gateway.user_password").fetchall()
    assert renewed.startswith("$argon2id$v=19$m=65536")
    assert (await sign_in(gateway.browser(), "Ada")).status_code == 200


async def test_a_session_id_is_useless_without_its_secret(gateway: LoneGateway) -> None:
    await member(gateway, "Ada")
    for value in ("", "x", secrets.token_urlsafe(32), "a" * 5000):
        answer = await gateway.browser().get("/v1/me", headers={"Cookie": f"{NAME}={value}"})
        assert answer.status_code == 401


async def test_an_invited_person_joins_with_a_password_and_a_member_with_a_session(gateway: LoneGateway) -> None:
    admin = gateway.admin()

    async def invited() -> str:
        workspace_id = (await admin.post("/v1/workspaces", json={"name": "Research"})).json()["id"]
        made = await admin.post(f"/v1/workspaces/{workspace_id}/invitations", json={"name": "Ada", "role": "viewer"})
        return str(made.json()["token"])

    async def join(browser: httpx2.AsyncClient, token: str, **more: str) -> httpx2.Response:
        return await browser.post("/v1/auth/join", json={"token": token, **more}, headers=OWN_PAGE)

    token, browser = await invited(), gateway.browser()
    assert problem(await join(browser, token)) == (422, "password-needed")
    assert problem(await join(browser, token, password="password1234")) == (422, "password-too-common")
    joined = await join(browser, token, password=PASSWORD)
    assert (joined.status_code, joined.json()["user"]["name"]) == (200, "Ada")
    assert (await browser.get("/v1/me")).json()["role"] == "viewer"
    assert problem(await join(gateway.browser(), token, password=PASSWORD)) == (409, "invitation-used")
    again = await join(browser, await invited())
    assert again.json()["user"] == joined.json()["user"]
    assert len((await browser.get("/v1/auth/workspaces")).json()["items"]) == 2
    assert (await sign_in(gateway.browser(), "Ada")).status_code == 200
    guess = "ati_" + "0" * 32 + "_" + "a" * 43
    assert problem(await join(gateway.browser(), guess, password=PASSWORD)) == (404, "invitation-not-found")


async def test_sign_in_attempts_are_audited_with_user_and_address(gateway: LoneGateway) -> None:
    user = await member(gateway, "Ada")
    await sign_in(gateway.browser("198.51.100.7"), "Ada", "a guess")
    await sign_in(gateway.browser("198.51.100.8"), "nobody", "a guess")
    browser = await signed_in(gateway, "Ada")
    session = (await browser.get("/v1/auth/session")).json()["session"]["id"]
    await browser.post("/v1/auth/sign-out", headers=OWN_PAGE)
    entries = (await gateway.admin().get("/v1/audit", params={"everywhere": True, "limit": 100})).json()["items"]
    told = {
        (entry["action"], entry["result"], entry["user_id"], entry["address"], entry["credential_id"])
        for entry in entries
        if entry["action"].startswith("sign_in.") and "password_link" not in entry["action"]
    }
    assert told == {
        ("sign_in.password", "refused", user, "198.51.100.7", None),
        ("sign_in.password", "refused", None, "198.51.100.8", None),
        ("sign_in.password", "done", user, "192.0.2.1", session),
        ("sign_in.end", "done", user, "192.0.2.1", session),
    }
    assert PASSWORD not in str(entries)
    assert "a guess" not in str(entries)


async def test_a_flood_of_attempts_does_not_flood_the_audit_log(gateway: LoneGateway) -> None:
    for _ in range(45):
        await sign_in(gateway.browser(), "nobody", "a guess")
    entries = (await gateway.admin().get("/v1/audit", params={"everywhere": True, "limit": 200})).json()["items"]
    assert [entry["status"] for entry in entries].count(429) == 1
