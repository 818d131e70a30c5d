"""Documents generated from the code: OpenAPI per service and merged, AsyncAPI of the streams."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from contract.merge import merge
from deployment_keys import SERVICES, DeploymentKeys
from fastapi import FastAPI

from contracts.events import EVENTS, Event
from contracts.run_events import RUN_EVENTS
from contracts.workspace_events import WORKSPACE_CHANGES
from service_kit.app import VERSION

CONTRACTS = Path(__file__).resolve().parents[2] / "libs" / "contracts"
FOLDER = CONTRACTS / "api"
MERGED = (
    CONTRACTS / "src" / "contracts" / "api" / "attractor.openapi.json"
)  # shipped with the package: the gateway serves it
KEYS = DeploymentKeys()
ENVIRONMENT = {
    "PORT": "8000",
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:1/attractor",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "S3_ENDPOINT": "127.0.0.1:1",
    "S3_ACCESS_KEY": "key",
    "S3_SECRET_KEY": "secret",
    "ADMIN_API_KEY": "5f0e3d9c7a1b2846e8d1c0f3b7a49265d27b4c9061fe83a5",
    **{f"{name.upper().replace('-', '_')}_URL": "http://127.0.0.1:1" for name in SERVICES},
}


def all_documents() -> dict[str, dict[str, Any]]:
    """Returns all documents by file name."""
    services = {name: application(name).openapi() for name in SERVICES}
    files = {f"{name}.openapi.json": document for name, document in services.items()}
    return files | {MERGED.name: merge(services, VERSION), "attractor.asyncapi.json": asyncapi()}


def path_of(name: str) -> Path:
    """Returns where a generated document is committed."""
    return MERGED if name == MERGED.name else FOLDER / name


def application(service: str) -> FastAPI:
    """Builds the service's app, without starting it, on settings with unreachable addresses."""
    package = service.replace("-", "_")
    settings: Callable[[], Any] = import_module(f"{package}.settings").Settings
    with patch.dict(os.environ, ENVIRONMENT | KEYS.environment(service), clear=True):
        app: FastAPI = import_module(f"{package}.app").create_app(settings())
    return app


def asyncapi() -> dict[str, Any]:
    """Returns the AsyncAPI 3.0 document: a channel per stream, a message per event, the envelope in components."""
    schemas: dict[str, Any] = {"Event": Event.model_json_schema(ref_template="#/components/schemas/{model}")}
    messages: dict[str, Any] = {}
    channels: dict[str, Any] = {}
    for data in EVENTS:
        name = data.event_type
        messages[name] = _message(name, data, schemas, {"$ref": "#/components/schemas/Event"})
        channel = channels.setdefault(data.stream, {"address": data.stream, "messages": {}})
        channel["messages"][name] = {"$ref": f"#/components/messages/{name}"}
    runs = {"address": "attractor.runs.{run_id}", "parameters": {"run_id": {"description": "The run's id."}}}
    channels["attractor.runs"] = runs | {"messages": {}}
    for event in RUN_EVENTS:
        messages[event.name] = _message(event.name, event, schemas, None)
        channels["attractor.runs"]["messages"][event.name] = {"$ref": f"#/components/messages/{event.name}"}
    changes = channels["workspace.changes"] = {"address": "/v1/events", "messages": {}}
    for change in WORKSPACE_CHANGES:
        messages[change.name] = _message(change.name, change, schemas, None)
        changes["messages"][change.name] = {"$ref": f"#/components/messages/{change.name}"}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Attractor's streams", "version": VERSION},
        "channels": channels,
        "components": {"messages": messages, "schemas": schemas},
    }


def _message(name: str, data: Any, schemas: dict[str, Any], envelope: dict[str, str] | None) -> dict[str, Any]:
    schema = data.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs", {}))
    schemas[data.__name__] = schema
    reference = {"$ref": f"#/components/schemas/{data.__name__}"}
    wrapped = {"allOf": [envelope, {"properties": {"data": reference}}]} if envelope else reference
    return {"name": name, "summary": (data.__doc__ or "").strip().split("\n")[0], "payload": wrapped}


def rendered(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
