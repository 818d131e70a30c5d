"""Limits password attempts: for one account from anywhere, and from one address for any account."""

from __future__ import annotations

import hashlib

from gateway.access.rate_limit import Buckets
from gateway.client_address import network
from gateway.errors import TooManyAttempts


class Attempts:
    """An account is whatever was typed as login, even if no user has it, so that refusals reveal nothing about users.

    A browser that has signed in to the account before has attempts of its own.
    """

    def __init__(self, accounts: Buckets, addresses: Buckets) -> None:
        self.accounts, self.addresses = accounts, addresses

    async def spend(self, login: str, address: str, browser: str | None = None) -> None:
        """Counts an attempt before the password is checked; `browser` names a known browser. Raises TooManyAttempts."""
        await self.spend_address(address)
        await _take(self.accounts, f"{account_of(login)}:{browser}" if browser else account_of(login))

    async def spend_address(self, address: str) -> None:
        """Counts an attempt that concerns no account. Raises TooManyAttempts."""
        await _take(self.addresses, network(address))


def account_of(login: str) -> str:
    return hashlib.sha256(login.casefold().encode()).hexdigest()


async def _take(buckets: Buckets, holder: str) -> None:
    allowance = await buckets.take(holder)
    if allowance and not allowance.allowed:
        raise TooManyAttempts(headers=allowance.headers)
