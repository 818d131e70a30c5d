"""The settings class of each process, and the variables that the embedded stack passes to it."""

from __future__ import annotations

import json

from contract.reference import ROOT
from pydantic_settings import BaseSettings

from backup.container.settings import ContainerSettings, RestoreSettings
from gateway.settings import Settings as Gateway
from ingestion.settings import Settings as Ingestion
from ingestion.worker.settings import WorkerSettings
from knowledge_graph.settings import Settings as KnowledgeGraph
from memory.settings import Settings as Memory
from orchestrator.settings import Settings as Orchestrator
from retrieval.settings import Settings as Retrieval

VARIABLES = ROOT / "infra" / "embedded" / "src" / "embedded" / "variables.json"
SETTINGS: dict[str, type[BaseSettings]] = {
    "gateway": Gateway,
    "ingestion": Ingestion,
    "ingestion-worker": WorkerSettings,
    "knowledge-graph": KnowledgeGraph,
    "memory": Memory,
    "orchestrator": Orchestrator,
    "retrieval": Retrieval,
}


# Containers that the embedded stack does not have: it takes backups by itself.
CONTAINERS: dict[str, type[BaseSettings]] = SETTINGS | {"backup": ContainerSettings, "restore": RestoreSettings}


def variables() -> str:
    """Returns the document: the variables that each process reads, by process name."""
    named = {name: sorted(field.upper() for field in one.model_fields) for name, one in SETTINGS.items()}
    return json.dumps(named, indent=1) + "\n"
