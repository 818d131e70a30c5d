"""Recognises browsers that have signed in to an account by password, so that their attempts are counted separately.

Otherwise a stranger who keeps guessing would lock the account's user out (OWASP calls this a device cookie).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from starlette.requests import Request
from starlette.responses import Response

from gateway.signin.cookies import BrowserCookie
from service_kit.token_keys import SigningKey

DAYS = 180
SECONDS = DAYS * 24 * 3600
VALUE = re.compile(r"([0-9a-f]{32})\.([0-9]{1,12})\.([0-9a-f]{64})", re.ASCII)


class KnownBrowsers:
    """Stores nothing: a cookie has a random name, its expiry, and proof that the gateway issued it for an account."""

    def __init__(self, key: SigningKey, cookie: BrowserCookie) -> None:
        """`key` is the gateway's, shared by all replicas; once it is replaced, every browser is unknown again."""
        derived = HKDF(SHA256(), 32, salt=None, info=b"attractor known browsers")
        self._key, self._cookie = derived.derive(key.private.private_bytes_raw()), cookie

    def name(self, request: Request, account: str) -> str | None:
        """Returns the random name of this browser if it has signed in to the account before."""
        found = VALUE.fullmatch(self._cookie.read(request) or "")
        if found is None or int(found[2]) < time.time():
            return None
        return found[1] if hmac.compare_digest(self._proof(account, found[1], found[2]), found[3]) else None

    def remember(self, request: Request, response: Response, account: str) -> None:
        name, ends = secrets.token_hex(16), str(int(time.time()) + SECONDS)
        self._cookie.write(request, response, f"{name}.{ends}.{self._proof(account, name, ends)}")

    def _proof(self, account: str, name: str, ends: str) -> str:
        return hmac.new(self._key, f"{account}.{name}.{ends}".encode(), hashlib.sha256).hexdigest()
