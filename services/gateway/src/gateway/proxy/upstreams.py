"""The services behind the gateway and the pool of connections to them."""

from __future__ import annotations

import httpx2

from service_kit.http_service import service_client

WRITE_SECONDS = 60.0


class Upstreams:
    """`bases`: URLs by service name. Times in seconds; `first_byte` is how long a service may take to respond."""

    def __init__(self, bases: dict[str, str], connect: float, first_byte: float, pool: int) -> None:
        self.bases = {name: base.rstrip("/") for name, base in bases.items()}
        self.first_byte = first_byte
        self.timeout = httpx2.Timeout(None, connect=connect, write=WRITE_SECONDS, pool=connect)
        self.client = service_client(max_connections=pool, timeout=self.timeout)

    def url(self, service: str, raw_path: bytes, query: bytes) -> httpx2.URL:
        target = raw_path + b"?" + query if query else raw_path
        return httpx2.URL(self.bases[service]).copy_with(raw_path=target)

    async def get(self, service: str, path: str, seconds: float) -> httpx2.Response:
        """Returns a small response. Raises httpx2.HTTPError, also if it takes longer than `seconds`."""
        return await self.client.get(f"{self.bases[service]}{path}", timeout=seconds)
