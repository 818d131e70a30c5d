"""Recognises the deployment's host names and its own web pages."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::[0-9]{1,5})?", re.ASCII)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def host_name(authority: str) -> str | None:
    """Returns the name of `name` or `name:port`, in lower case, IPv6 addresses in brackets; None if it is neither."""
    match = HOST.fullmatch(authority.lower())
    return match[1] if match else None


def is_loopback_url(url: str) -> bool:
    """Returns whether the URL leads to this machine, where no network traffic can be intercepted."""
    return host_name(urlsplit(url).netloc) in LOOPBACK


class WebOrigins:
    """`public_url` is the deployment's URL for users, `allowed_hosts` are further host names; loopback names are
    always allowed.
    """

    def __init__(self, public_url: str | None, allowed_hosts: Collection[str]) -> None:
        parts = urlsplit(public_url or "")
        self.public_origin = f"{parts.scheme}://{parts.netloc}".lower() if public_url else None
        self.is_public_by_tls = parts.scheme == "https"
        names = {name for name in (host_name(parts.netloc), *map(host_name, allowed_hosts)) if name}
        self.names = names | LOOPBACK

    def names_this(self, request: HTTPConnection) -> bool:
        """Returns whether the request has exactly one Host header, with one of the deployment's names.

        A page of another site whose name was made to resolve to this machine (DNS rebinding) sends that site's name.
        """
        hosts = request.headers.getlist("host")
        return len(hosts) == 1 and host_name(hosts[0]) in self.names

    def is_same_origin(self, request: HTTPConnection) -> bool:
        """Returns whether a page of this deployment made the request, according to the browser.

        All current browsers send `Sec-Fetch-Site`, older ones `Origin`; without both the result is False.
        """
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site not in (None, "same-origin"):
            return False
        if origin in (None, "null"):  # null: a form on a page that hides its address
            return site == "same-origin" and self.names_this(request)
        return origin.lower() in self._own(request)

    def _own(self, request: HTTPConnection) -> set[str]:
        host = request.headers.get("host", "").lower()
        own = {self.public_origin} if self.public_origin else set()
        if self.names_this(request):
            own.add(f"{request.url.scheme}://{host}")
            if host_name(host) not in LOOPBACK:
                own.add(f"https://{host}")  # a proxy in front may not report that it terminated TLS
        return own

    def is_plain_loopback(self, request: HTTPConnection) -> bool:
        """Returns whether the user is on this machine without TLS, where not all browsers accept Secure cookies."""
        loopback = host_name(request.headers.get("host", "")) in LOOPBACK
        return loopback and request.url.scheme == "http" and not self.is_public_by_tls

    def is_confidential(self, request: HTTPConnection) -> bool:
        """Returns whether the request cannot be read in transit: TLS, or this machine."""
        loopback = host_name(request.headers.get("host", "")) in LOOPBACK
        return loopback or request.url.scheme == "https" or self.is_public_by_tls
