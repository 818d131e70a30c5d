"""The merged OpenAPI document, kept ready: services are asked in the background, not while a caller waits."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass

import httpx2

from gateway.openapi import OWN, Document, merge
from gateway.upstreams import Upstreams

FETCH_SECONDS = 5.0
RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Rendered:
    text: bytes
    etag: str
    complete: bool


class ApiDocument:
    def __init__(self, own: Document, upstreams: Upstreams, refresh_seconds: float) -> None:
        self.own, self.upstreams, self.refresh_seconds = own, upstreams, refresh_seconds
        self.rendered: Rendered | None = None
        self.lock = asyncio.Lock()

    async def current(self) -> Rendered:
        """At once, but for the very first time."""
        async with self.lock:
            return self.rendered or await self._refresh()

    async def run(self) -> None:
        """Refreshes until cancelled, sooner again while a service is away."""
        while True:
            rendered = await self._refresh()
            await asyncio.sleep(self.refresh_seconds if rendered.complete else min(RETRY_SECONDS, self.refresh_seconds))

    async def _refresh(self) -> Rendered:
        names = list(self.upstreams.bases)
        documents = dict(zip(names, await asyncio.gather(*map(self._fetch, names)), strict=True))
        there = {name: document for name, document in documents.items() if document is not None}
        version = self.own["info"]["version"]
        missing = [name for name in names if name not in there]
        text = json.dumps(merge({OWN: self.own} | there, version, missing), ensure_ascii=False).encode()
        self.rendered = Rendered(text, f'"{hashlib.sha256(text).hexdigest()[:32]}"', not missing)
        return self.rendered

    async def _fetch(self, service: str) -> Document | None:
        """None when the service is away or answers something else."""
        try:
            response = await self.upstreams.get(service, "/openapi.json", FETCH_SECONDS)
            document = response.raise_for_status().json()
        except (httpx2.HTTPError, ValueError):
            return None
        return document if isinstance(document, dict) and isinstance(document.get("paths"), dict) else None
