"""Checks AuthService access tokens without a call to AuthService.

BillingRouter has the same logic in TypeScript. ProjectBeta and ProjectGamma import this module. It was written after
ADR-007 and is owned by the Identity team (Mara Lindqvist).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ACCESS_TOKEN_SECONDS = 15 * 60
REFRESH_TOKEN_DAYS = 14  # ADR-011; it was 30 until 6 November 2025
KEY_REFRESH_SECONDS = 60 * 60
CLOCK_SKEW_SECONDS = 30


class TokenRefused(Exception):
    """The token is expired, malformed, signed by an unknown key, or lacks the scope that the caller needs."""


@dataclass(frozen=True)
class Claims:
    """Who calls: a traveller, a partner (ProjectBeta) or the device of a crew (ProjectGamma)."""

    subject: str
    operator_id: int
    scopes: frozenset[str]
    expires_at: float


class TokenVerifier:
    """Verifies signatures with AuthService's public keys, which it fetches once an hour.

    While AuthService is down it goes on with the keys that it has. So a service that uses it keeps working for as long
    as the tokens of its callers live: 15 minutes at most. That is what happened to BillingRouter in INC-112.
    """

    def __init__(
        self,
        fetch_keys: Callable[[], Mapping[str, bytes]],
        decode: Callable[[str, Mapping[str, bytes]], Claims],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._fetch_keys = fetch_keys
        self._decode = decode
        self._now = now
        self._keys: Mapping[str, bytes] = {}
        self._fetched_at = float("-inf")

    def verify(self, token: str, scope: str) -> Claims:
        """The claims of a valid token that carries `scope`; raises TokenRefused otherwise."""
        claims = self._decode(token, self._current_keys())
        if claims.expires_at + CLOCK_SKEW_SECONDS < self._now():
            raise TokenRefused("expired")
        if scope not in claims.scopes:
            raise TokenRefused(f"lacks the scope {scope}")
        return claims

    def _current_keys(self) -> Mapping[str, bytes]:
        if self._now() - self._fetched_at > KEY_REFRESH_SECONDS:
            try:
                self._keys = self._fetch_keys()
                self._fetched_at = self._now()
            except ConnectionError:
                if not self._keys:
                    raise
        return self._keys
