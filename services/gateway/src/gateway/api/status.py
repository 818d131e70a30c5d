"""The state of every service; all are asked concurrently, each with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx2
from pydantic import TypeAdapter

from contracts.gateway import ServiceStatus, Status, WallStatus
from gateway.proxy.upstreams import Upstreams
from service_kit.health import Health

WALLS = TypeAdapter(list[WallStatus])


async def ask_all(upstreams: Upstreams, own: Health, seconds: float, version: str) -> Status:
    services = await asyncio.gather(_own(own), *(_ask(upstreams, name, seconds) for name in upstreams.bases))
    ready = all(service.status == "ready" for service in services)
    return Status(status="ready" if ready else "degraded", version=version, services=list(services))


async def _own(health: Health) -> ServiceStatus:
    failures = await health.failures()
    return ServiceStatus(
        name="gateway", status="ready" if health.is_ready(failures) else "not_ready", detail=_joined(failures)
    )


async def _ask(upstreams: Upstreams, name: str, seconds: float) -> ServiceStatus:
    try:
        response = await upstreams.get(name, "/readyz", seconds)
    except httpx2.TimeoutException:
        return ServiceStatus(name=name, status="unreachable", detail=f"no answer in {seconds:g} s")
    except httpx2.HTTPError as error:
        return ServiceStatus(name=name, status="unreachable", detail=type(error).__name__)
    if response.status_code == 200:
        return ServiceStatus(name=name, status="ready", walls=_walls(response))
    return ServiceStatus(name=name, status="not_ready", detail=_failures(response))


def _walls(response: httpx2.Response) -> list[WallStatus]:
    try:
        return WALLS.validate_python(response.json().get("walls", []))
    except (ValueError, AttributeError):
        return []


def _failures(response: httpx2.Response) -> str:
    try:
        return _joined(response.json()["failures"]) or f"status {response.status_code}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"status {response.status_code}"


def _joined(failures: Mapping[str, str]) -> str | None:
    return "; ".join(f"{name}: {reason}" for name, reason in failures.items())[:1000] or None
