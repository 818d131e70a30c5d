"""Checks, hashes (argon2id, RFC 9106) and compares passwords."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from gateway.errors import PasswordTooCommon, SignInBusy

# Each takes 64 MiB and about 50 ms: with more at a time, guessing passwords could starve other requests.
AT_ONCE = 2
MOST_WAITING = 50  # a few seconds' worth; further attempts are told to retry
COMMON = frozenset(resources.files("gateway.signin").joinpath("common_passwords.txt").read_text("utf-8").split())
FEWEST_DIFFERENT_CHARACTERS = 4
HASHER = PasswordHasher()


def must_be_uncommon(password: str, *own_words: str | None) -> None:
    """Raises PasswordTooCommon for passwords that attackers try first: common ones, and the user's own name or address.

    There are no composition rules (NIST SP 800-63B); length is what counts.
    """
    text = _normalized(password).casefold()
    own = {word.casefold() for word in own_words if word}
    if text in COMMON or text in own or len(set(text)) < FEWEST_DIFFERENT_CHARACTERS:
        raise PasswordTooCommon


@cache
def _nobodys(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_urlsafe())


class Passwords:
    """Hashes and compares in threads, since both are slow on purpose."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self.hasher = hasher or HASHER
        self.free, self.waiting = asyncio.Semaphore(AT_ONCE), 0
        self.nobodys = _nobodys(self.hasher)

    async def hash(self, password: str) -> str:
        """Returns the hash in the PHC string format, which names its parameters. Raises SignInBusy."""
        async with self._turn():
            return await asyncio.to_thread(self.hasher.hash, _normalized(password))

    async def match(self, password: str, hashed: str | None) -> bool:
        """Returns whether they match; without a hash it does the same work and returns False. Raises SignInBusy."""
        async with self._turn():
            same = await asyncio.to_thread(self._matches, password, hashed or self.nobodys)
        return same and hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        """Returns whether the hash was made with parameters other than the current ones."""
        return self.hasher.check_needs_rehash(hashed)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self.waiting >= MOST_WAITING:
            raise SignInBusy(headers={"Retry-After": "5"})
        self.waiting += 1
        try:
            async with self.free:
                yield
        finally:
            self.waiting -= 1

    def _matches(self, password: str, hashed: str) -> bool:
        try:
            return self.hasher.verify(hashed, _normalized(password))
        except VerifyMismatchError:
            return False


def _normalized(password: str) -> str:
    """Returns the normalised form of text that keyboards may send in several forms."""
    return unicodedata.normalize("NFKC", password)
