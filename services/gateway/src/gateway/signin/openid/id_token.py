"""Verifies an ID token (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

import jwt

from gateway.errors import OpenIdTokenInvalid
from gateway.signin.openid.provider import OpenIdProvider

# By kind of key, so that each key is only used as intended; never a shared secret, never `none`.
ALGORITHMS = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
LEEWAY_SECONDS = 60
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
LONGEST_SUBJECT = 255


async def verified_claims(provider: OpenIdProvider, token: str, nonce: str) -> dict[str, Any]:
    """Returns the claims. Raises OpenIdTokenInvalid unless the provider issued it for us, now, for this nonce."""
    client_id = provider.registration.client_id
    try:
        header = jwt.get_unverified_header(token)
        key = _chosen(await provider.keys_named(header.get("kid")), header["alg"])
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            [header["alg"]],
            audience=client_id,
            issuer=provider.registration.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED},
        )
    except (jwt.PyJWTError, KeyError) as error:
        raise OpenIdTokenInvalid(_reason(error)) from error
    audience, party = claims["aud"], claims.get("azp")
    if (isinstance(audience, list) and len(audience) > 1 and party is None) or party not in (None, client_id):
        raise OpenIdTokenInvalid("it was made for another client")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise OpenIdTokenInvalid("it belongs to another sign-in")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= LONGEST_SUBJECT:
        raise OpenIdTokenInvalid("it names no user")
    return claims


def _chosen(keys: list[Mapping[str, Any]], algorithm: str) -> jwt.PyJWK:
    """Returns the only key that may be used with this algorithm."""
    fitting = [
        key
        for key in keys
        if algorithm in ALGORITHMS.get(str(key.get("kty")), ())
        and key.get("alg") in (None, algorithm)
        and key.get("use") in (None, "sig")
    ]
    if len(fitting) != 1:
        raise OpenIdTokenInvalid("it is not signed with a key of the provider")
    return jwt.PyJWK(dict(fitting[0]), algorithm)


def _reason(error: Exception) -> str:
    match error:
        case jwt.ExpiredSignatureError():
            return "it has expired"
        case jwt.InvalidAudienceError():
            return "it was made for another client"
        case jwt.InvalidIssuerError():
            return "another issuer made it"
        case jwt.InvalidSignatureError():
            return "its signature is not the provider's"
        case _:
            return "it cannot be read"
