"""The state of every service; all are asked concurrently, each with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
from pydantic import TypeAdapter, ValidationError

from contracts.gateway import ServiceStatus, Status, WallStatus
from gateway.proxy.upstreams import Upstreams
from service_kit.health import Health

WALLS = TypeAdapter(list[WallStatus])


async def ask_all(upstreams: Upstreams, own: Health, seconds: float, version: str) -> Status:
    services = await asyncio.gather(_own(own, version), *(_ask(upstreams, name, seconds) for name in upstreams.bases))
    ready = all(service.status == "ready" for service in services)
    return Status(status="ready" if ready else "degraded", version=version, services=list(services))


async def _own(health: Health, version: str) -> ServiceStatus:
    failures, facts = await asyncio.gather(health.failures(), health.facts())
    return ServiceStatus(
        name="gateway",
        status="ready" if health.is_ready(failures) else "not_ready",
        version=version,
        schema_version=facts.get("schema_version"),
        detail=_joined(failures),
    )


async def _ask(upstreams: Upstreams, name: str, seconds: float) -> ServiceStatus:
    try:
        response = await upstreams.get(name, "/readyz", seconds)
    except httpx2.TimeoutException:
        return ServiceStatus(name=name, status="unreachable", detail=f"no answer in {seconds:g} s")
    except httpx2.HTTPError as error:
        return ServiceStatus(name=name, status="unreachable", detail=type(error).__name__)
    is_ready, body = response.status_code == 200, _body(response)
    return ServiceStatus(
        name=name,
        status="ready" if is_ready else "not_ready",
        version=_text(body.get("version")),
        schema_version=_text(body.get("schema_version")),
        detail=None if is_ready else _failures(body) or f"status {response.status_code}",
        walls=_walls(body) if is_ready else [],
    )


def _body(response: httpx2.Response) -> Mapping[str, Any]:
    """Returns the JSON object of a response; an empty one if it is none."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _walls(body: Mapping[str, Any]) -> list[WallStatus]:
    try:
        return WALLS.validate_python(body.get("walls", []))
    except ValidationError:
        return []


def _failures(body: Mapping[str, Any]) -> str | None:
    failures = body.get("failures")
    return _joined(failures) if isinstance(failures, dict) else None


def _joined(failures: Mapping[str, str]) -> str | None:
    return "; ".join(f"{name}: {reason}" for name, reason in failures.items())[:1000] or None
