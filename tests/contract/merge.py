"""Merges the OpenAPI 3.1 documents of all services into one. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from contracts.base import ProblemBody
from contracts.openai_errors import OpenAIError, OpenAIErrorBody, is_openai_path
from gateway.proxy.routing import prefix_of
from service_kit.app import VERSION

Document = dict[str, Any]
ERRORS: tuple[type[BaseModel], ...] = (ProblemBody, OpenAIError, OpenAIErrorBody)
OWN = "gateway"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PROBLEM_MEDIA_TYPE = "application/problem+json"
VALIDATION = ("HTTPValidationError", "ValidationError")
EVERYWHERE = {
    "400": "The request cannot be read",
    "401": "No valid API key was sent",
    "403": "The caller's role does not allow it",
    "422": "The request is not valid",
    "429": "Too many requests with this key; `Retry-After` says when to try again",
}
WITH_BODY = {"413": "The body is too large"}
PROXIED = {"502": "The service cannot be reached", "504": "The service did not answer in time"}
# The cookie's name over TLS; without TLS, on this machine only, it has no prefix.
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "web_session": {"type": "apiKey", "in": "cookie", "name": "__Host-attractor_session"},
}
SECURITY = [{name: []} for name in SCHEMES]
INFO = {
    "title": "Attractor",
    "description": "A workspace that answers from your own documents, with checked citations. Routes take an API key, "
    "`Authorization: Bearer <key>`, or the cookie of a web session, whose user names a workspace in `X-Workspace-Id`. "
    "Errors are problems (RFC 9457).",
}


def merge(documents: Mapping[str, Document], version: str = VERSION) -> Document:
    """Merges the public routes of `documents`, keyed by service name: those that the gateway forwards to the service.

    Components that are equal in several services become one; those that differ get the service's name as a prefix.
    Operation ids are unique; every operation has its service's tag, its security and the gateway's own problems.
    """
    public = {name: _public(name, document) for name, document in documents.items()}
    clashing = _clashing(public)
    merged: Document = {
        "openapi": "3.1.0",
        "info": INFO | {"version": version},
        "security": SECURITY,
        "tags": [{"name": name} for name in public],
        "paths": {},
        "components": {"schemas": {one.__name__: _schema(one) for one in _errors(public)}},
    }
    for name, document in public.items():
        renamed = _rename(document, {key: f"{_pascal(name)}{key[1]}" for key in clashing if _has(document, key)})
        for kind, members in renamed.get("components", {}).items():
            merged["components"].setdefault(kind, {}).update(members)
        merged["paths"].update(renamed["paths"])
    merged["components"]["securitySchemes"] = SCHEMES
    _make_operation_ids_unique(merged["paths"])
    return merged


def _public(service: str, document: Document) -> Document:
    """Returns the routes that the gateway forwards to the service, without the framework's own 422."""
    paths = {}
    for path, item in document.get("paths", {}).items():
        prefix = prefix_of(path)
        if path.startswith("/v1/") and (prefix.service if prefix else OWN) == service:
            paths[path] = deepcopy(item)
    for path, item in paths.items():
        for _, operation in _operations(item):
            _complete(service, operation, is_openai_path(path))
    components = deepcopy(document.get("components", {}))
    components.pop("securitySchemes", None)
    for name in (*VALIDATION, *(one.__name__ for one in ERRORS)):  # ERRORS are the contract's
        components.get("schemas", {}).pop(name, None)
    return {"paths": paths, "components": components}


def _errors(documents: Mapping[str, Document]) -> Sequence[type[BaseModel]]:
    """Returns the error schemas that the documents' routes use."""
    paths = [path for document in documents.values() for path in document["paths"]]
    return ERRORS if any(map(is_openai_path, paths)) else ERRORS[:1]


def _complete(service: str, operation: Document, is_openai: bool) -> None:
    operation["tags"] = [service]
    operation.setdefault("security", SECURITY)  # a route that needs none declares that itself
    responses = operation.setdefault("responses", {})
    possible = EVERYWHERE | (WITH_BODY if "requestBody" in operation else {}) | ({} if service == OWN else PROXIED)
    for status, description in possible.items():
        own = responses.get(status)
        if own is None or any(name in json.dumps(own) for name in VALIDATION):
            name, media_type = ("OpenAIError", "application/json") if is_openai else ("ProblemBody", PROBLEM_MEDIA_TYPE)
            schema = {"$ref": f"#/components/schemas/{name}"}
            responses[status] = {"description": description, "content": {media_type: {"schema": schema}}}
    if is_openai:
        responses.pop("422")  # its clients get 400 instead
    for response in responses.values():
        content = response.get("content", {})
        for media_type in [one for one in content if "ProblemBody" in json.dumps(content[one])]:
            content[PROBLEM_MEDIA_TYPE] = content.pop(media_type)


def _clashing(documents: Mapping[str, Document]) -> set[tuple[str, str]]:
    """Returns (kind, name) of components that differ between services, or refer to one that does."""
    versions: dict[tuple[str, str], set[str]] = {}
    leads_to: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for document in documents.values():
        for kind, members in document.get("components", {}).items():
            for name, member in members.items():
                versions.setdefault((kind, name), set()).add(_text(member))
                leads_to.setdefault((kind, name), set()).update(_references(member))
    clashing = {key for key, texts in versions.items() if len(texts) > 1}
    while more := {key for key, targets in leads_to.items() if targets & clashing} - clashing:
        clashing |= more
    return clashing


def _rename(node: Any, names: Mapping[tuple[str, str], str]) -> Any:
    """Returns the document with components and all references to them renamed."""
    renamed = _rename_references(node, names)
    for (kind, old), new in names.items():
        members = renamed["components"][kind]
        members[new] = members.pop(old)
        if kind == "schemas" and members[new].get("title") == old:
            members[new]["title"] = new
    return renamed


def _rename_references(node: Any, names: Mapping[tuple[str, str], str]) -> Any:
    if isinstance(node, dict):
        return {key: _rename_references(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [_rename_references(value, names) for value in node]
    key = _reference(node)
    return f"#/components/{key[0]}/{names[key]}" if key and key in names else node


def _references(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _references(value)
    elif key := _reference(node):
        yield key


def _reference(value: Any) -> tuple[str, str] | None:
    """Returns (kind, name) if the text refers to a component, in `$ref` or a discriminator's mapping."""
    if isinstance(value, str) and value.startswith("#/components/") and value.count("/") == 3:
        _, _, kind, name = value.split("/")
        return kind, name
    return None


def _make_operation_ids_unique(paths: Document) -> None:
    operations = [(method, path, operation) for path, item in paths.items() for method, operation in _operations(item)]
    taken: set[str] = set()
    for method, path, operation in operations:
        wanted = operation.get("operationId") or f"{method}_{path}".replace("/", "_").replace("{", "").replace("}", "")
        if wanted in taken:
            wanted = f"{operation['tags'][0].replace('-', '_')}_{wanted}"
        unique, number = wanted, 2
        while unique in taken:
            unique, number = f"{wanted}_{number}", number + 1
        operation["operationId"] = unique
        taken.add(unique)


def _operations(item: Document) -> Iterator[tuple[str, Document]]:
    return ((method, item[method]) for method in METHODS if method in item)


def _schema(model: type[BaseModel]) -> Document:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    return schema


def _has(document: Document, key: tuple[str, str]) -> bool:
    return key[1] in document.get("components", {}).get(key[0], {})


def _text(node: Any) -> str:
    return json.dumps(node, sort_keys=True)


def _pascal(service: str) -> str:
    return "".join(part.capitalize() for part in service.split("-"))
