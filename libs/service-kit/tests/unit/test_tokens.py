"""Tokens between services: who may say what to whom, for how long, and with which keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID, uuid4

import jwt
import pytest
from deployment_keys import SERVICES, DeploymentKeys
from fastapi import Depends, FastAPI
from pydantic import ValidationError

from contracts.gateway import Role
from service_kit import problem_handlers
from service_kit.auth import Principal, ServiceCaller, Viewer, called_by, viewer_or, viewer_through
from service_kit.problems import Unauthenticated
from service_kit.recent_values import REMEMBERED, RecentValues
from service_kit.settings import TokenSettings
from service_kit.token_keys import SigningKey, parse_public_keys
from service_kit.tokens import (
    ACCEPTED,
    DELEGATION,
    LEEWAY_SECONDS,
    LIFETIME,
    LONGEST_DELEGATION,
    REPEATED_SECONDS,
    May,
    Tokens,
)

KEYS = DeploymentKeys()
GATEWAY, RETRIEVAL, GRAPH = (KEYS.tokens(name) for name in ("gateway", "retrieval", "knowledge-graph"))
OfMemory = Annotated[ServiceCaller, Depends(called_by("memory"))]
Either = Annotated[UUID, Depends(viewer_or("memory"))]
Through = Annotated[Principal, Depends(viewer_through("retrieval"))]
USER = Principal(uuid4(), uuid4(), Role.owner, (uuid4(), uuid4()))


def delegated(*actors: str, user: Principal = USER, lasting: timedelta = LIFETIME) -> Principal:
    return replace(user, delegation=GATEWAY.delegate(user, actors, lasting))


def signed(signer: str, audience: str, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """A token with this service's key; `claims` are set or, where None, left out."""
    key, now = SigningKey.parse(KEYS.private[signer]), datetime.now(UTC)
    whole = {"iss": signer, "aud": audience, "workspace": str(USER.workspace_id), "iat": now, "exp": now + LIFETIME}
    whole = {name: value for name, value in (whole | claims).items() if value is not None}
    return jwt.encode(whole, key.private, "EdDSA", {"kid": key.id} | (header or {}))


def as_owner(signer: str, audience: str, **claims: Any) -> str:
    return signed(signer, audience, **{"sub": str(uuid4()), "role": "owner"} | claims)


def unsigned(header: dict[str, Any], audience: str, sign: Callable[[bytes], bytes]) -> str:
    now = int(datetime.now(UTC).timestamp())
    claims = {"iss": "gateway", "aud": audience, "sub": str(uuid4()), "role": "owner", "iat": now, "exp": now + 60}
    parts = [json.dumps(part).encode() for part in (header, claims | {"workspace": str(uuid4())})]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    return (text + b"." + base64.urlsafe_b64encode(sign(text)).rstrip(b"=")).decode()


def refused(tokens: Tokens, token: str) -> bool:
    try:
        tokens.verify(token)
    except Unauthenticated:
        return True
    return False


def test_the_gateway_speaks_for_users():
    assert RETRIEVAL.verify(GATEWAY.sign(USER, "retrieval")) == USER
    narrow = replace(USER, role=Role.editor, readable=None)
    assert RETRIEVAL.verify(GATEWAY.sign(narrow, "retrieval")) == narrow


def test_a_service_acts_for_a_user_only_as_a_viewer_and_with_a_delegation():
    carried = RETRIEVAL.verify(GATEWAY.sign(delegated("retrieval"), "retrieval"))
    assert isinstance(carried, Principal)
    verified = GRAPH.verify(RETRIEVAL.sign(carried, "knowledge-graph"))
    assert verified == replace(USER, role=Role.viewer)
    elsewhere = replace(carried, workspace_id=USER.readable[1])
    verified = GRAPH.verify(RETRIEVAL.sign(elsewhere, "knowledge-graph"))
    assert verified == Principal(USER.user_id, USER.readable[1], Role.viewer)


def test_a_delegation_is_forwarded_with_the_request():
    run = delegated("orchestrator", "retrieval", lasting=LONGEST_DELEGATION)
    at_retrieval = RETRIEVAL.verify(KEYS.tokens("orchestrator").sign(run, "retrieval"))
    assert isinstance(at_retrieval, Principal)
    assert GRAPH.verify(RETRIEVAL.sign(at_retrieval, "knowledge-graph")) == at_retrieval


@pytest.mark.parametrize(
    ("carry", "why"),
    [
        (lambda: delegated("orchestrator"), "for other services"),
        (lambda: delegated("retrieval", lasting=timedelta(hours=2)), "for too long"),
        (lambda: replace(delegated("retrieval"), workspace_id=uuid4()), "for other workspaces"),
        (
            lambda: replace(USER, delegation=RETRIEVAL.delegate(USER, ["retrieval"], LIFETIME)),
            "made by the service itself",
        ),
        (lambda: replace(USER, delegation=GATEWAY.sign(USER, "knowledge-graph")), "a token and no delegation"),
    ],
    ids=["services", "time", "workspaces", "own", "token"],
)
def test_an_invalid_delegation_is_refused(carry: Callable[[], Principal], why: str):
    """Creates the delegation when the test runs, since it is valid for two minutes."""
    assert refused(GRAPH, RETRIEVAL.sign(carry(), "knowledge-graph")), why


def test_a_delegation_is_not_accepted_as_a_token():
    delegation = delegated("retrieval").delegation
    assert delegation is not None
    assert all(refused(KEYS.tokens(name), delegation) for name in SERVICES)


@pytest.mark.parametrize(
    ("carried", "why"),
    [
        (USER, "the request carries no delegation"),
        (delegated("retrieval", lasting=-timedelta(seconds=1)), "the user asked too long ago"),
    ],
    ids=["without", "ended"],
)
def test_without_a_delegation_no_request_is_sent(carried: Principal, why: str):
    with pytest.raises(ValueError, match=why):
        RETRIEVAL.sign(carried, "knowledge-graph")


@pytest.mark.parametrize("signer", [name for name in SERVICES if name != "gateway"])
@pytest.mark.parametrize("audience", SERVICES)
def test_only_the_gateway_speaks_for_users(signer: str, audience: str):
    tokens = KEYS.tokens(audience)
    assert refused(tokens, as_owner(signer, audience))
    assert refused(tokens, as_owner(signer, audience, iss="gateway"))
    delegation = delegated("orchestrator", "retrieval", "knowledge-graph").delegation
    assert refused(tokens, as_owner(signer, audience, delegation=delegation))


@pytest.mark.parametrize("signer", SERVICES)
@pytest.mark.parametrize("audience", SERVICES)
def test_only_permitted_calls_between_services_are_accepted(signer: str, audience: str):
    may = ACCEPTED[audience].get(signer, May(0))
    delegation = delegated(*SERVICES).delegation
    asked = [signed(signer, audience, delegation=delegation), signed(signer, audience)]
    assert [refused(KEYS.tokens(audience), token) for token in asked] == [May.ACT not in may, May.CALL not in may]


def test_only_the_gateway_may_speak_for_users_and_unknown_issuers_are_refused():
    speaking = {(to, of) for to, row in ACCEPTED.items() for of, may in row.items() if May.SPEAK in may}
    assert {of for _, of in speaking} == {"gateway"}
    assert refused(KEYS.tokens("memory"), GATEWAY.sign(USER, "retrieval"))
    assert refused(RETRIEVAL, DeploymentKeys().tokens("gateway").sign(USER, "retrieval"))


# Spans of time are counted from when a test runs, which may be long after this module is imported.
WRONG: list[dict[str, Any]] = [
    {"aud": "ingestion"},
    {"aud": ["retrieval", "ingestion"]},
    {"aud": None},
    {"aud": DELEGATION},
    {"iss": "retrieval"},
    {"iss": None},
    {"exp": None},
    {"exp": datetime(2286, 11, 20, tzinfo=UTC)},
    {"exp": timedelta(minutes=10)},
    {"exp": timedelta(minutes=-1)},
    {"exp": "soon"},
    {"iat": None},
    {"iat": timedelta(minutes=5), "exp": timedelta(minutes=6)},
    {"iat": datetime(2286, 11, 20, tzinfo=UTC), "exp": datetime(2286, 11, 20, 0, 1, tzinfo=UTC)},
    {"workspace": None},
    {"workspace": "every"},
    {"workspace": ["a"]},
    {"role": "admin"},
    {"role": None},
    {"sub": "root"},
]


@pytest.mark.parametrize("claims", WRONG, ids=[f"{number}-{'-'.join(one)}" for number, one in enumerate(WRONG)])
def test_the_key_of_the_gateway_signs_only_valid_claims(claims: dict[str, Any]):
    now = datetime.now(UTC)
    wrong = {name: now + value if isinstance(value, timedelta) else value for name, value in claims.items()}
    assert not refused(RETRIEVAL, as_owner("gateway", "retrieval"))
    assert refused(RETRIEVAL, as_owner("gateway", "retrieval", **wrong))


def test_another_algorithm_is_refused():
    public = SigningKey.parse(KEYS.private["gateway"]).public_text
    kid = SigningKey.parse(KEYS.private["gateway"]).id
    for secret in (public.encode(), bytes.fromhex(public), b""):
        forged = unsigned(
            {"alg": "HS256", "kid": kid}, "retrieval", lambda text, key=secret: hmac.digest(key, text, hashlib.sha256)
        )
        assert refused(RETRIEVAL, forged)
    for name in ("none", "None", "NONE", "RS256", "ES256", ""):
        assert refused(RETRIEVAL, unsigned({"alg": name, "kid": kid}, "retrieval", lambda _: b""))


@pytest.mark.parametrize("kid", [None, "", "0" * 16, 7, ["a"], {"a": 1}], ids=str)
def test_a_token_signed_with_an_unknown_key_is_refused(kid: Any):
    assert refused(RETRIEVAL, unsigned({"alg": "EdDSA", "kid": kid}, "retrieval", lambda _: bytes(64)))
    assert refused(RETRIEVAL, unsigned({"alg": "EdDSA"}, "retrieval", lambda _: bytes(64)))


@pytest.mark.parametrize("spoil", [lambda token: token[:-6] + "AAAAAA", lambda _: "nonsense", lambda _: ""])
def test_an_altered_token_is_refused(spoil: Callable[[str], str]):
    assert refused(RETRIEVAL, spoil(GATEWAY.sign(USER, "retrieval")))


def test_keys_are_rotated_without_downtime():
    old, new = DeploymentKeys(), DeploymentKeys()
    only_old = old.tokens("retrieval").known
    both = parse_public_keys(f"{old.public}, gateway:{SigningKey.parse(new.private['gateway']).public_text}")
    without_old = {key_id: key for key_id, key in both.items() if key_id != old.tokens("gateway").key.id}
    by_old, by_new = (keys.tokens("gateway").sign(USER, "retrieval") for keys in (old, new))
    receiver = old.tokens("retrieval")
    steps = []
    for known in (only_old, both, without_old):
        receiver.known = known
        steps.append((refused(receiver, by_old), refused(receiver, by_new)))
    assert steps == [(False, True), (False, False), (True, False)]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"token_private_key": "s" * 64}, "openssl rand -hex 32"),
        ({"token_private_key": "ab" * 16}, "openssl rand -hex 32"),
        ({"token_public_keys": "retrieval"}, "service:key"),
        ({"token_public_keys": f"retrieval:{'g' * 64}"}, "service:key"),
        ({"token_public_keys": ""}, "service:key"),
        ({"token_public_keys": DeploymentKeys().public}, "lacks the public half"),
        ({"token_public_keys": f"{KEYS.public} other:{KEYS.public[8:72]}"}, "two services have the same public key"),
    ],
)
def test_unusable_keys_are_reported_at_startup(settings: dict[str, str], why: str):
    with pytest.raises(ValidationError, match=why) as raised:
        TokenSettings.model_validate(KEYS.settings("gateway") | settings)
    assert KEYS.private["gateway"] not in str(raised.value)
    assert "ab" * 16 not in str(raised.value)


async def test_a_route_declares_its_permitted_callers(running):
    app = FastAPI()
    problem_handlers.install(app)

    @app.get("/users")
    async def users(_: Viewer) -> None: ...

    @app.get("/through")
    async def through(_: Through) -> None: ...

    @app.get("/memory")
    async def memory(_: OfMemory) -> None: ...

    @app.get("/both")
    async def both(workspace_id: Either) -> UUID:
        return workspace_id

    class Known:
        def verify(self, token: str) -> Principal | ServiceCaller:
            return callers[token]

    app.state.tokens = Known()
    through_retrieval, through_memory = (replace(USER, role=Role.viewer, via=via) for via in ("retrieval", "memory"))
    callers = {
        "user": USER,
        "user through retrieval": through_retrieval,
        "user through memory": through_memory,
        "memory": ServiceCaller("memory", USER.workspace_id),
        "retrieval": ServiceCaller("retrieval", USER.workspace_id),
    }
    answers = {}
    async with running(app) as client:
        for name in callers:
            headers = {"Authorization": f"Bearer {name}"}
            paths = ("/users", "/through", "/memory", "/both")
            answers[name] = [(await client.get(path, headers=headers)).status_code for path in paths]
    assert answers == {
        "user": [200, 200, 403, 200],
        "user through retrieval": [403, 200, 403, 403],
        "user through memory": [403, 403, 403, 403],
        "memory": [403, 403, 200, 200],
        "retrieval": [403, 403, 403, 403],
    }


def test_a_token_is_signed_once_for_requests_that_follow_each_other():
    now = datetime.now(UTC).timestamp()
    moments = iter([now, now + REPEATED_SECONDS, now + REPEATED_SECONDS + 1])
    gateway = Tokens("gateway", TokenSettings.model_validate(KEYS.settings("gateway")), lambda: next(moments))
    first, again, later = (gateway.sign(USER, "retrieval") for _ in range(3))
    assert (first == again, again == later) == (True, False)


@pytest.mark.parametrize(
    "other",
    [
        replace(USER, role=Role.viewer),
        replace(USER, user_id=uuid4()),
        replace(USER, workspace_id=uuid4()),
        replace(USER, readable=None),
        replace(USER, readable=(uuid4(),)),
        replace(USER, key_id=uuid4()),
        delegated("retrieval"),
    ],
    ids=["role", "user", "workspace", "narrower", "elsewhere", "key", "delegation"],
)
def test_a_token_is_never_that_of_another_caller(other: Principal):
    mine, theirs = (GATEWAY.sign(one, "retrieval") for one in (USER, other))
    assert mine != theirs
    assert (RETRIEVAL.verify(theirs), RETRIEVAL.verify(mine)) == (other, USER)
    assert GATEWAY.delegate(USER, ["memory"], LIFETIME) != GATEWAY.delegate(USER, ["retrieval"], LIFETIME)


def test_a_token_that_was_accepted_before_is_refused_once_it_has_expired_or_its_key_is_gone():
    now = datetime.now(UTC).timestamp()
    settings = TokenSettings.model_validate(KEYS.settings("retrieval"))
    moments = [now]
    receiver = Tokens("retrieval", settings, lambda: moments[0])
    short = as_owner("gateway", "retrieval", exp=datetime.fromtimestamp(now + 60 - LEEWAY_SECONDS, UTC))
    outcomes = [refused(receiver, short), refused(receiver, short)]
    moments[0] = now + 61
    outcomes.append(refused(receiver, short))
    moments[0], receiver.known = now, {}
    assert [*outcomes, refused(receiver, short)] == [False, False, True, True]


def test_what_is_remembered_of_tokens_is_bounded():
    kept = RecentValues[int]()
    for number in range(REMEMBERED + 5):
        kept.put(number, number)
    assert (len(kept), kept.get(4), kept.get(5)) == (REMEMBERED, None, 5)
