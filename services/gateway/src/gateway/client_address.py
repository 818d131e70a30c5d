"""The address that a request comes from, and the network against which its attempts count."""

from __future__ import annotations

import ipaddress

from starlette.requests import Request

IPV6_NETWORK = 64  # prefix length of the network that a provider gives one customer


def client_address(request: Request) -> str:
    """Returns `unknown` over a socket that has no address."""
    return request.client.host if request.client else "unknown"


def network(address: str) -> str:
    """Returns the address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False)) if parsed.version == 6 else address
