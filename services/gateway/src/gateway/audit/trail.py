"""Writes the audit: an ASGI middleware that records what a request did before the caller sees the outcome."""

from __future__ import annotations

import json
import logging
import time
from typing import Any
from uuid import UUID

import psycopg
from prometheus_client import CollectorRegistry, Counter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.accounts.caller import Authenticated
from gateway.audit import actions
from gateway.audit.entries import AuditEntries, NewEntry
from gateway.client_address import network
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.tracing import current_trace_id

log = logging.getLogger(__name__)
READ_BYTES = 64 * 1024  # of a response, to find the ids of what was created
DECIDED = ("role", "is_admin", "disabled_at", "expires_at")  # fields of a response that record a decision
REFUSALS_KEPT_SECONDS, REFUSALS_KEPT = 60.0, 1_000


class AuditTrail:
    """Adds entries. One that cannot be written is logged in full, as an error, and counted."""

    def __init__(self, database: Database, registry: CollectorRegistry) -> None:
        self.database = database
        self.refusals: dict[str, float] = {}
        self.lost = Counter(
            "attractor_audit_entries_lost_total",
            "Audit entries that could not be written and are only in the log",
            registry=registry,
        )

    async def add(self, entry: NewEntry) -> None:
        try:
            async with self.database.system() as connection:
                await AuditEntries(connection).add(entry)
        except (psycopg.Error, Unavailable) as error:
            self.lost.inc()
            values = {name: str(value) for name, value in vars(entry).items() if value is not None}
            log.error("audit entry not written", exc_info=error, extra={"entry": values})

    def is_first_refusal(self, origin: str) -> bool:
        """Returns whether this is the origin's first refusal in a minute: guessing or flooding makes one entry."""
        now = time.monotonic()
        if now - self.refusals.get(origin, -REFUSALS_KEPT_SECONDS) < REFUSALS_KEPT_SECONDS:
            return False
        if len(self.refusals) >= REFUSALS_KEPT:
            self.refusals.pop(next(iter(self.refusals)))
        self.refusals.pop(origin, None)  # reinserted, so that the first is the oldest
        self.refusals[origin] = now
        return True


class AuditMiddleware:
    """Records the requests that `actions` names, and refused credentials on any path."""

    def __init__(self, app: ASGIApp, trail: AuditTrail) -> None:
        self.app, self.trail = app, trail

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Recorder(scope, send, self.trail).observe)


class _Recorder:
    """Records the response to one request."""

    def __init__(self, scope: Scope, send: Send, trail: AuditTrail) -> None:
        self.scope, self.send, self.trail = scope, send, trail
        self.found = actions.find(scope["method"], scope["path"])
        self.status = 0
        self.body: bytearray | None = None

    async def observe(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._answer_tells(Headers(raw=message["headers"])):
                self.body = bytearray()
            elif entry := self._entry({}):
                await self.trail.add(entry)
        elif message["type"] == "http.response.body" and self.body is not None:
            self.body += message.get("body", b"")[: READ_BYTES + 1 - len(self.body)]
            if not message.get("more_body"):
                entry = self._entry(_answer(self.body))
                self.body = None
                if entry:
                    await self.trail.add(entry)
        await self.send(message)

    def _answer_tells(self, headers: Headers) -> bool:
        """Returns whether the response body says what was created or decided."""
        is_json = headers.get("content-type", "").startswith("application/json")
        return bool(self.found) and self.status < 300 and is_json and self.scope["method"] != "GET"

    def _entry(self, answer: dict[str, Any]) -> NewEntry | None:
        state = self.scope.get("state", {})
        caller: Authenticated | None = state.get("caller")
        address = self.scope["client"][0] if self.scope.get("client") else None
        origin = network(address) if address else "unknown"
        if self.found is None:
            if self.status != 401 or not self.trail.is_first_refusal(origin):
                return None
            entry = NewEntry(actions.REFUSED_CREDENTIAL, self.status)
        else:
            if self.status == 429 and not self.trail.is_first_refusal(f"limited {origin}"):
                return None
            action, target, workspace = self.found
            entry = NewEntry(action.name, self.status, target_id=target or _created(answer))
            entry.workspace_id = state.get("audited_workspace") or self._workspace(action, workspace, caller)
            entry.detail = {name: answer[name] for name in DECIDED if answer.get(name) is not None}
            if documents := [one["document"]["id"] for one in answer.get("files", []) if one.get("document")]:
                entry.detail["document_ids"] = documents
                entry.target_id = documents[0] if len(documents) == 1 else None
        entry.user_id, entry.credential_id = state.get("audited_user"), state.get("audited_credential")
        if entry.action == actions.ACCEPTED and answer:  # the workspace that was joined, perhaps by a new user
            entry.workspace_id, entry.user_id = UUID(answer["workspace"]["id"]), UUID(answer["user"]["id"])
        entry.address, entry.trace_id = address, current_trace_id()
        return entry

    def _workspace(self, action: actions.Action, named: str | None, caller: Authenticated | None) -> UUID | None:
        """Returns the workspace whose owners see the entry; None if only administrators do."""
        if caller is None or action.of_deployment:
            return None
        if named and (caller.is_admin or self.status < 400):
            try:
                return UUID(named)
            except ValueError:
                return caller.workspace.id
        return caller.workspace.id


def _answer(body: bytearray) -> dict[str, Any]:
    """Returns the body if it is a JSON object, or {} if it is too long or anything else."""
    if len(body) > READ_BYTES:
        return {}
    try:
        answer = json.loads(body or b"{}")
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _created(answer: dict[str, Any]) -> str | None:
    return str(answer["id"]) if "id" in answer else None
