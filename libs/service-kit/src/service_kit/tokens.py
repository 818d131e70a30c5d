"""Tokens between services (JWT, RFC 7519): who signed them, for whom, and what the signer may do there.

Only the gateway acts for users by itself. Another service acts for a user with a delegation: a statement, signed by the
gateway, of the user, the workspaces, the services that may use it, and its expiry. The service puts it into a token of
its own, so that neither a delegation alone nor a service's key alone is of any use.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Flag, auto
from typing import Any
from uuid import UUID

import jwt

from contracts.gateway import Role
from contracts.registry import GATEWAY, INGESTION, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR, RETRIEVAL
from service_kit.auth import Principal, ServiceCaller
from service_kit.problems import Unauthenticated
from service_kit.recent_values import RecentValues
from service_kit.settings import TokenSettings
from service_kit.token_keys import SigningKey, parse_public_keys

ALGORITHM = "EdDSA"
LIFETIME = timedelta(minutes=2)
LONGEST_DELEGATION = timedelta(hours=1)
LEEWAY_SECONDS = 5
REPEATED_SECONDS = 20.0  # a token is signed once for the same caller and audience in this time
DELEGATION = "attractor-delegation"  # the audience of delegations; no service has this name
log = logging.getLogger(__name__)


class May(Flag):
    """What a service accepts from holders of another service's key."""

    SPEAK = auto()  # name any user, with any role
    ACT = auto()  # act as a viewer for a user, with the gateway's delegation, on routes that name the service
    CALL = auto()  # call on its own behalf, without a user, on routes that name the service


# By the service called, then by the signer. Anything else is refused.
ACCEPTED: Mapping[str, Mapping[str, May]] = {
    GATEWAY: dict.fromkeys((ORCHESTRATOR, INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY), May.CALL),
    ORCHESTRATOR: {GATEWAY: May.SPEAK | May.CALL, RETRIEVAL: May.ACT, MEMORY: May.CALL},
    INGESTION: {
        GATEWAY: May.SPEAK,
        ORCHESTRATOR: May.ACT | May.CALL,
        **dict.fromkeys((RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY), May.CALL),
    },
    RETRIEVAL: {GATEWAY: May.SPEAK, ORCHESTRATOR: May.ACT, KNOWLEDGE_GRAPH: May.ACT, INGESTION: May.CALL},
    KNOWLEDGE_GRAPH: {GATEWAY: May.SPEAK, RETRIEVAL: May.ACT, ORCHESTRATOR: May.ACT, INGESTION: May.CALL},
    MEMORY: {GATEWAY: May.SPEAK, ORCHESTRATOR: May.ACT},
}


class Tokens:
    """Signs the tokens of one service, and verifies those addressed to it.

    A token is reused for a short time, so that its receiver checks its signature once, and only its expiry at every
    request. `now` returns the seconds since the epoch.
    """

    def __init__(self, service: str, settings: TokenSettings, now: Callable[[], float] = time.time) -> None:
        self.service, self.now = service, now
        self.key = SigningKey.parse(settings.token_private_key.get_secret_value())
        self.known = parse_public_keys(settings.token_public_keys)
        self._signed_lately = RecentValues[tuple[str, float]]()
        self._verified_lately = RecentValues[tuple[dict[str, Any], str]]()

    def sign(self, caller: Principal | ServiceCaller, audience: str) -> str:
        """Returns a token for the service `audience`, good for two minutes, or a little less: see `REPEATED_SECONDS`.

        Raises ValueError if the gateway has not delegated the user to this service, or no longer.
        """
        claims: dict[str, Any] = {"workspace": str(caller.workspace_id)}
        if isinstance(caller, Principal):
            if self.service == GATEWAY:
                claims |= _spoken(caller) | {"role": caller.role.value}
            elif caller.delegation is None:
                raise ValueError("the request carries no delegation")
            elif _expired(caller.delegation):
                raise ValueError("the user asked too long ago")
            if caller.delegation is not None:
                claims["delegation"] = caller.delegation
        return self._signed(claims, audience, LIFETIME)

    def delegate(self, principal: Principal, actors: Sequence[str], lasting: timedelta) -> str:
        """Returns a delegation: `actors` may act for the user, as a viewer. Only the gateway's are accepted."""
        claims = {**_spoken(principal), "workspace": str(principal.workspace_id), "actors": list(actors)}
        return self._signed(claims, DELEGATION, lasting)

    def verify(self, token: str) -> Principal | ServiceCaller:
        """Returns the caller. Raises Unauthenticated, also for callers that this service does not accept."""
        try:
            return self._verified(token)
        except (jwt.PyJWTError, KeyError, ValueError, TypeError, AttributeError) as error:
            log.warning("token rejected", extra={"reason": str(error)})
            raise Unauthenticated("the internal token is not valid") from error

    def _verified(self, token: str) -> Principal | ServiceCaller:
        claims = self._claims(token, self.service, LIFETIME)
        issuer, workspace_id = claims["iss"], UUID(claims["workspace"])
        may = ACCEPTED.get(self.service, {}).get(issuer, May(0))
        if "sub" in claims:
            _require(may, May.SPEAK, issuer)
            return Principal(
                UUID(claims["sub"]),
                workspace_id,
                Role(claims["role"]),
                _readable(claims),
                claims.get("delegation"),
                key_id=_key_id(claims),
            )
        if "delegation" in claims:
            _require(may, May.ACT, issuer)
            return self._delegated(claims["delegation"], issuer, workspace_id)
        _require(may, May.CALL, issuer)
        return ServiceCaller(issuer, workspace_id)

    def _delegated(self, delegation: str, actor: str, workspace_id: UUID) -> Principal:
        claims = self._claims(delegation, DELEGATION, LONGEST_DELEGATION)
        if claims["iss"] != GATEWAY:
            raise jwt.InvalidIssuerError("the delegation is not of the gateway")
        if actor not in claims.get("actors", ()):
            raise jwt.InvalidTokenError(f"the delegation is not for {actor}")
        if workspace_id not in (UUID(claims["workspace"]), *(_readable(claims) or ())):
            raise jwt.InvalidTokenError("the delegation is not for this workspace")
        home = workspace_id == UUID(claims["workspace"])
        return Principal(
            UUID(claims["sub"]),
            workspace_id,
            Role.viewer,
            _readable(claims) if home else None,
            delegation,
            via=actor,
            key_id=_key_id(claims),
        )

    def _claims(self, token: str, audience: str, longest: timedelta) -> dict[str, Any]:
        """Returns the claims of a token that a known key signed for `audience`, valid now and not for too long.

        The key's id alone determines the key and the required issuer, never other claims of the token.
        """
        lately = self._verified_lately.get((token, audience))
        if lately is not None and lately[1] in self.known:
            if int(lately[0]["exp"]) <= self.now() - LEEWAY_SECONDS:
                raise jwt.ExpiredSignatureError("it has expired")
            return lately[0]
        key_id = jwt.get_unverified_header(token).get("kid", "")
        known = self.known.get(key_id)
        if known is None:
            raise jwt.InvalidKeyError("its key is not known here")
        claims = jwt.decode(
            token,
            known.key,
            [ALGORITHM],
            audience=audience,
            issuer=known.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "aud", "iat", "exp", "workspace"], "strict_aud": True},
        )
        if int(claims["exp"]) - int(claims["iat"]) > longest.total_seconds():
            raise jwt.InvalidTokenError("it is meant to last too long")
        self._verified_lately.put((token, audience), (claims, key_id))
        return claims

    def _signed(self, claims: Mapping[str, Any], audience: str, lasting: timedelta) -> str:
        key, now = (*sorted((name, str(value)) for name, value in claims.items()), audience, lasting), self.now()
        lately = self._signed_lately.get(key)
        if lately is not None and now - lately[1] <= REPEATED_SECONDS:
            return lately[0]
        moment = datetime.fromtimestamp(now, UTC)
        whole = {**claims, "iss": self.service, "aud": audience, "iat": moment, "exp": moment + lasting}
        token = jwt.encode(whole, self.key.private, ALGORITHM, {"kid": self.key.id})
        self._signed_lately.put(key, (token, now))
        return token


def _expired(delegation: str) -> bool:
    """Returns whether the delegation has expired. Called by its holder, who need not verify it."""
    claims = jwt.decode(delegation, options={"verify_signature": False})
    return bool(claims["exp"] <= datetime.now(UTC).timestamp())


def _spoken(principal: Principal) -> dict[str, Any]:
    claims: dict[str, Any] = {"sub": str(principal.user_id)}
    if principal.key_id is not None:
        claims["key"] = str(principal.key_id)
    if principal.readable is not None:
        claims["readable"] = [str(workspace_id) for workspace_id in principal.readable]
    return claims


def _key_id(claims: Mapping[str, Any]) -> UUID | None:
    key = claims.get("key")
    return None if key is None else UUID(key)


def _readable(claims: Mapping[str, Any]) -> tuple[UUID, ...] | None:
    readable = claims.get("readable")
    return None if readable is None else tuple(map(UUID, readable))


def _require(may: May, needed: May, issuer: str) -> None:
    if needed not in may:
        raise jwt.InvalidIssuerError(f"{issuer} may not do this here")
