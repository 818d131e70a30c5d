"""Detects S3 connections that lead to Attractor's own object store."""

from __future__ import annotations

import asyncio
import socket

from ingestion.sources.settings import S3Connection


async def is_same_store(connection: S3Connection, own_endpoint: str) -> bool:
    """Returns whether both endpoints are the same, even under two names; also True if our own endpoint is unknown."""
    if not own_endpoint:
        return True
    default = 443 if connection.secure else 80
    here, there = _host_and_port(connection.endpoint, default), _host_and_port(own_endpoint, default)
    if here == there or (_is_amazon(here[0]) and _is_amazon(there[0])):
        return True
    return here[1] == there[1] and not (await _addresses(here[0])).isdisjoint(await _addresses(there[0]))


def _host_and_port(endpoint: str, default: int) -> tuple[str, int]:
    host, colon, port = endpoint.rpartition(":")
    return (host.lower(), int(port)) if colon and port.isdigit() else (endpoint.lower(), default)


def _is_amazon(host: str) -> bool:
    """Returns whether the host is Amazon's, where a bucket name means the same bucket at every endpoint."""
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


async def _addresses(host: str) -> set[str]:
    """Returns the addresses of a host; none if it cannot be resolved."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {str(entry[4][0]) for entry in found}
