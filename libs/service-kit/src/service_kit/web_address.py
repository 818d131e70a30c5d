"""Checks addresses that users name: allowed are the public internet, and what the operator allows besides."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from pydantic_core import Url, ValidationError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PORTS = frozenset({80, 443, 8080, 8443})
HOST = re.compile(r"[a-z0-9_]++(?:-++[a-z0-9_]++)*+(?:\.[a-z0-9_]++(?:-++[a-z0-9_]++)*+)*+")
NAT64 = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = IPv6Network("2002::/16")
GLOBAL_UNICAST = IPv6Network("2000::/3")
# Not public, whatever the version of the ipaddress module says.
RESERVED = tuple(
    ip_network(network)
    for network in (
        "100.64.0.0/10",  # shared by carriers, RFC 6598; metadata of Alibaba Cloud
        "168.63.129.16/32",  # the platform's own services inside Azure
        "192.0.0.0/24",  # protocol assignments; metadata of Oracle Cloud
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "2001::/23",  # Teredo and other protocol assignments
        "3fff::/20",  # documentation, RFC 9637
    )
)


class AddressRefused(ValueError):
    """The text is a sentence with the reason, without a name's address, which would help to map internal names."""


@dataclass(frozen=True)
class AllowedAddresses:
    """What may be reached besides the public internet: networks, and hosts whatever their names resolve to."""

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    def check_url(self, url: str, proxied: bool = False) -> None:
        """Checks a URL without resolving the name (behind a proxy that is all); raises AddressRefused.

        Other forms of an IPv4 address (decimal, octal, hexadecimal, shortened) are literal addresses too.
        """
        try:
            parsed = Url(url)
        except ValidationError:
            raise AddressRefused("This is not a valid URL.") from None
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise AddressRefused("Only http and https are fetched.")
        if parsed.username or parsed.password:
            raise AddressRefused("A URL must not contain a user or password.")
        literal = literal_address(parsed.host)
        if literal is not None:
            self.check(parsed.host, parsed.port or 0, [literal])
        elif parsed.port not in PORTS and parsed.host not in self.hosts and (proxied or not self.networks):
            raise AddressRefused(f"The port {parsed.port} is not allowed.")

    def check(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        """Raises AddressRefused unless all of the host's addresses are allowed with this port."""
        if host.lower().rstrip(".") in self.hosts:
            return
        foreign = [address for address in addresses if not self._allows(address)]
        for address in foreign:
            if not is_public(address):
                raise AddressRefused(f"{host} is not a public address.")
        if foreign and port not in PORTS:
            raise AddressRefused(f"The port {port} of {host} is not allowed.")

    def _allows(self, address: Address) -> bool:
        plain = unmapped(address)
        return any(plain in network for network in self.networks if network.version == plain.version)


def allowed_addresses(text: str) -> AllowedAddresses:
    """Parses a comma-separated list of networks (CIDR), addresses and host names; raises ValueError."""
    networks: list[Network] = []
    hosts: set[str] = set()
    for entry in filter(None, (part.strip().lower() for part in text.split(","))):
        try:
            networks.append(ip_network(entry, strict=False))
        except ValueError:
            if not HOST.fullmatch(entry) or literal_address(entry) is not None:
                raise ValueError(f"{entry!r} is neither a network such as 10.0.0.0/8 nor a host name") from None
            hosts.add(entry)
    return AllowedAddresses(tuple(networks), frozenset(hosts))


def literal_address(host: str) -> Address | None:
    """Returns the address if the host is a literal one, including the forms that inet_aton(3) reads; else None."""
    bare = host.strip("[]").rstrip(".")
    try:
        return ip_address(bare)
    except ValueError:
        pass
    last = bare.rsplit(".", 1)[-1].lower()
    if not re.fullmatch(r"\d+|0x[0-9a-f]*", last):
        return None
    try:
        return IPv4Address(socket.inet_aton(bare))
    except OSError:
        return None


def unmapped(address: Address) -> Address:
    """Returns the IPv4 address that an IPv6 address (::ffff:0:0/96) wraps, else the address."""
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def is_public(address: Address) -> bool:
    """Returns whether this is a public unicast address, also checking an IPv4 address embedded in IPv6."""
    plain = unmapped(address)
    if isinstance(plain, IPv6Address):
        if plain.sixtofour is not None and plain in SIX_TO_FOUR:
            return is_public(plain.sixtofour)
        if plain in NAT64:
            return is_public(IPv4Address(int(plain) & 0xFFFF_FFFF))
        if plain not in GLOBAL_UNICAST:
            return False
    if any(plain in network for network in RESERVED if network.version == plain.version):
        return False
    return plain.is_global and not (plain.is_multicast or plain.is_reserved)
