"""The command `python -m ingestion reconcile`, which compares object store, PostgreSQL, index and graph."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import httpx2

from ingestion.documents.catalog import Catalogs
from ingestion.reconciliation.drift import REMEDY, Drift, DriftKind, compare
from ingestion.reconciliation.repair import Repair
from ingestion.reconciliation.survey import Surveyor
from ingestion.settings import ReconcileSettings
from service_kit.http_service import service_client
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.tokens import Tokens

NAME = "ingestion"
ANSWER_SECONDS = 30.0


class FoundDrift(NamedTuple):
    workspace_id: UUID
    drift: Drift


def reconcile_command(arguments: argparse.Namespace) -> None:
    """Exits with 1 if drift was found and not repaired, with 2 if a store or service does not respond."""
    found = asyncio.run(_run(ReconcileSettings(), arguments))
    left = [one for one in found if not arguments.repair or one.drift.kind is DriftKind.original_missing]
    if left:
        sys.exit(1)


async def _run(settings: ReconcileSettings, arguments: argparse.Namespace) -> list[FoundDrift]:
    found: list[FoundDrift] = []
    async with reconciler(settings) as (surveyor, repair):
        for workspace_id in [arguments.workspace] if arguments.workspace else await surveyor.workspaces():
            settled_before = datetime.now(UTC) - timedelta(seconds=settings.settled_after_seconds)
            drifts = compare(await surveyor.survey(workspace_id), settled_before)
            repaired = await repair.repair(workspace_id, drifts) if arguments.repair else 0
            found += [FoundDrift(workspace_id, drift) for drift in drifts]
            _print(workspace_id, drifts, repaired, arguments)
    return found


@asynccontextmanager
async def reconciler(settings: ReconcileSettings) -> AsyncIterator[tuple[Surveyor, Repair]]:
    """Opens the connections; ends the command with a one-line error if a store or service does not respond."""
    objects = ObjectStore(settings)
    tokens = Tokens(NAME, settings)
    try:
        async with (
            Database(settings.database_url.get_secret_value(), 3).opened() as database,
            service_client(timeout=ANSWER_SECONDS) as http,
        ):
            surveyor = Surveyor(database, objects, http, tokens, settings.retrieval_url, settings.knowledge_graph_url)
            yield surveyor, Repair(Catalogs(database, Outbox(NAME)), objects)
    except httpx2.HTTPError as error:
        sys.stderr.write(f"{NAME}: a service did not answer as it should: {error}\n")
        sys.exit(2)
    finally:
        objects.close()


def _print(workspace_id: UUID, drifts: list[Drift], repaired: int, arguments: argparse.Namespace) -> None:
    if arguments.json:
        for drift in drifts:
            document = str(drift.document_id) if drift.document_id else None
            line = {"workspace_id": str(workspace_id), "document_id": document, "kind": drift.kind}
            sys.stdout.write(json.dumps({**line, "detail": drift.detail, "remedy": REMEDY[drift.kind]}) + "\n")
        return
    outcome = "nothing has drifted" if not drifts else f"{len(drifts)} drifted"
    done = f", repair of {repaired} begun" if arguments.repair and drifts else ""
    sys.stdout.write(f"{workspace_id}: {outcome}{done}\n")
    for drift in drifts:
        remedy = "" if arguments.repair else f" (--repair: {REMEDY[drift.kind]})"
        sys.stdout.write(f"  {drift.kind}: {drift.document_id or ''} {drift.detail}{remedy}\n")
