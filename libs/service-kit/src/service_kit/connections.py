"""Counts the connections of one server, in total and by address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Connection(Protocol):
    def make_room(self) -> None:
        """Closes the connection."""


@dataclass
class _Address:
    """The connections of an address; idle ones are ordered by how long they have been idle."""

    count: int = 0
    waiting: dict[Connection, None] = field(default_factory=dict)


class Connections:
    """Admits up to `most` connections, and `per_address` of them from one address (None: no such limit).

    When the limit is reached, the connection that has been idle longest is closed for the new one, so clients that open
    connections without sending anything lose them first. `is_shared` recognises addresses that stand for many clients,
    such as a proxy's; they have no limit of their own.
    """

    def __init__(
        self, most: int, per_address: int | None = None, is_shared: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.most, self.per_address, self.is_shared = most, per_address, is_shared
        self.address_of: dict[Connection, str] = {}
        self.addresses: dict[str, _Address] = {}
        self.waiting: dict[Connection, None] = {}

    def admit(self, connection: Connection, address: str) -> bool:
        """Counts the connection if there is room for it; returns whether there is."""
        own = self.addresses.get(address)
        if own and self.per_address is not None and own.count >= self.per_address and not self.is_shared(address):
            if not self._closed_one(own.waiting):
                return False
        elif len(self.address_of) >= self.most and not self._closed_one(self.waiting):
            return False
        self.address_of[connection] = address
        self.addresses.setdefault(address, _Address()).count += 1
        self.waits(connection)
        return True

    def remove(self, connection: Connection) -> None:
        """Removes a closed connection; does nothing if it was never admitted."""
        address = self.address_of.pop(connection, None)
        if address is None:
            return
        self.waiting.pop(connection, None)
        own = self.addresses[address]
        own.waiting.pop(connection, None)
        own.count -= 1
        if own.count == 0:
            del self.addresses[address]

    def waits(self, connection: Connection) -> None:
        """Marks the connection as idle from now on."""
        if (address := self.address_of.get(connection)) is not None:
            self.waiting[connection] = self.addresses[address].waiting[connection] = None

    def begins(self, connection: Connection) -> None:
        """Marks that a complete request header has arrived."""
        if (address := self.address_of.get(connection)) is not None:
            self.waiting.pop(connection, None)
            self.addresses[address].waiting.pop(connection, None)

    def _closed_one(self, waiting: dict[Connection, None]) -> bool:
        oldest = next(iter(waiting), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.make_room()
        return True
