"""Connections of web sources."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import httpcore2

from ingestion.sources.settings import SourceSettings
from service_kit.web_connect import CheckedBackend, Resolve


def connection_pool(settings: SourceSettings, resolve: Resolve) -> httpcore2.AsyncConnectionPool:
    """Builds the pool. If `web_proxy` is set, the proxy resolves names and must refuse internal addresses."""
    if settings.web_proxy is None:
        backend = CheckedBackend(settings.web_allowed_networks, resolve)
        return httpcore2.AsyncConnectionPool(max_connections=2, keepalive_expiry=15.0, network_backend=backend)
    proxy = urlsplit(settings.web_proxy.get_secret_value())
    login = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
    url = httpcore2.URL(scheme=proxy.scheme, host=proxy.hostname or "", port=proxy.port, target="/")
    return httpcore2.AsyncHTTPProxy(url, login, max_connections=2, keepalive_expiry=15.0)
