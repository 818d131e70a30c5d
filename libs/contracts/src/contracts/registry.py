"""The services that hold data of a document or a workspace, and therefore confirm its deletion.

A new service that stores such data adds itself here, answers `document.deleted` with `document.purged`, and
`workspace.deleted` with `workspace.purged` (`service_kit.workspace_purge` does the latter).
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.ingestion import StageName

GATEWAY, INGESTION, ORCHESTRATOR = "gateway", "ingestion", "orchestrator"
RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY = "retrieval", "knowledge-graph", "memory"

# The stage of a document that a service completes, and confirms by an event.
STAGE_OF_SERVICE: Mapping[str, StageName] = {RETRIEVAL: "index", KNOWLEDGE_GRAPH: "graph"}

# Every service whose `document.purged` a document's deletion waits for, including ingestion itself.
CONFIRM_DOCUMENT_DELETION = (INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR)

# Every service whose `workspace.purged` a workspace's deletion waits for; the gateway enters its own counts.
CONFIRM_WORKSPACE_DELETION = (INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR)
