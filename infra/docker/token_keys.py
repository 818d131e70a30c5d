"""Generates the keys that sign tokens between services: Ed25519 (RFC 8032, section 5.1.5). Standard library only.

usage: infra/docker/token_keys.py SERVICE   prints a new key for .env, and its public half for TOKEN_PUBLIC_KEYS
"""

from __future__ import annotations

import hashlib
import secrets
import sys

SERVICES = ("gateway", "orchestrator", "ingestion", "retrieval", "knowledge-graph", "memory")
PRIME = 2**255 - 19
D = -121665 * pow(121666, -1, PRIME) % PRIME
BASE_Y = 4 * pow(5, -1, PRIME) % PRIME
BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
Point = tuple[int, int]


def setting(service: str) -> str:
    """Returns the name of a service's key in .env."""
    return f"{service.upper().replace('-', '_')}_TOKEN_KEY"


def new_key() -> str:
    return secrets.token_hex(32)


def public_key(private: str) -> str:
    """Returns the public half of a key; each half is 64 hexadecimal digits."""
    digest = bytearray(hashlib.sha512(bytes.fromhex(private)).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    x, y = _times(int.from_bytes(digest, "little"), (BASE_X, BASE_Y))
    return (y | (x & 1) << 255).to_bytes(32, "little").hex()


def public_keys(private: dict[str, str]) -> str:
    """Returns TOKEN_PUBLIC_KEYS for the keys of these services."""
    return " ".join(f"{service}:{public_key(key)}" for service, key in private.items())


def _times(factor: int, point: Point) -> Point:
    total: Point = (0, 1)
    while factor:
        if factor & 1:
            total = _plus(total, point)
        point, factor = _plus(point, point), factor >> 1
    return total


def _plus(one: Point, other: Point) -> Point:
    """Adds points of the twisted Edwards curve -x² + y² = 1 + d x² y²."""
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % PRIME
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, PRIME) % PRIME
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, PRIME) % PRIME
    return x, y


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in SERVICES:
        sys.stderr.write(f"usage: {sys.argv[0]} {' | '.join(SERVICES)}\n")
        return 2
    service, key = sys.argv[1], new_key()
    sys.stdout.write(f"{setting(service)}={key}\nadd to TOKEN_PUBLIC_KEYS: {service}:{public_key(key)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
