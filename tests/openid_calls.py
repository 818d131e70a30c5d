"""A browser's round trip to a real OpenID Connect provider."""

from __future__ import annotations

from typing import Any

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from sign_in_calls import HOME

CLIENT, OTHER_CLIENT, SECRET = "attractor", "another", "only for tests, but as long as a secret has to be"
CALLBACK = f"{HOME}/v1/auth/openid/callback"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
STRANGERS_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwk() -> dict[str, Any]:
    algorithm = jwt.algorithms.RSAAlgorithm
    return {**algorithm.to_jwk(KEY, as_dict=True), "kid": "first", "alg": "RS256", "use": "sig"}


async def at_provider(location: str, login: str) -> str:
    """Signs in on the provider's own pages, as a person does; returns the final redirect address."""
    async with httpx2.AsyncClient(trust_env=False, timeout=120) as http:
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


async def start_sign_in(browser: httpx2.AsyncClient, **query: str) -> str:
    """Starts a sign-in; returns the provider's address to which the browser is redirected."""
    answer = await browser.get("/v1/auth/openid", params=query)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def come_in(browser: httpx2.AsyncClient, login: str, **query: str) -> httpx2.Response:
    return await browser.get(await at_provider(await start_sign_in(browser, **query), login))
