"""Signs events on a stream with the key that signs the service's tokens (Ed25519).

A stream has several writers, and Redis does not tell which of them wrote an entry: the signature does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.exceptions import InvalidSignature

from service_kit.stream_entries import written_at
from service_kit.token_keys import PublicKey, SigningKey


@dataclass(frozen=True)
class EventSignatures:
    """Signs a service's events and verifies others'. Unsigned entries are accepted until `unsigned_until`."""

    key: SigningKey
    known: Mapping[str, PublicKey]
    unsigned_until: datetime

    def sign(self, stream: str, event: str) -> dict[Any, Any]:
        """Returns the fields of the event's entry on the stream."""
        return {"event": event, "signature": f"{self.key.id}.{self.key.private.sign(_signed(stream, event)).hex()}"}

    def proves(self, stream: str, entry_id: str, fields: Mapping[str, str], source: str) -> bool:
        """Returns whether `source` signed the entry, or the entry dates from before events were signed."""
        if "signature" not in fields:
            # Redis accepts no entry older than the newest of its stream.
            return datetime.fromtimestamp(written_at(entry_id), UTC) < self.unsigned_until
        key_id, _, signature = fields["signature"].partition(".")
        known = self.known.get(key_id)
        if known is None or known.issuer != source:
            return False
        try:
            known.key.verify(bytes.fromhex(signature), _signed(stream, fields["event"]))
        except (InvalidSignature, ValueError):
            return False
        return True


def _signed(stream: str, event: str) -> bytes:
    return f"{stream}\n{event}".encode()
