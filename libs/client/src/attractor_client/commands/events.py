"""attractor events"""

from __future__ import annotations

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output


@connected()
async def events(client: AttractorClient, output: Output) -> None:
    """Print what changes in the workspace as it happens, one line each, until interrupted: documents,
    synchronisations, your runs and artifacts, and for owners dead letters.

    \b
    Examples:
      attractor events
      attractor events --json | jq -r 'select(.event == "document") | .document_id + " " + .state'
    """
    async for event in client.events.follow():
        if output.as_json:
            output.json({"event": event.data.name, **event.data.model_dump(mode="json", exclude_none=True)}, line=True)
        else:
            facts = event.data.model_dump(mode="json", exclude_none=True)
            output.text(" ".join([event.data.name, *(f"{name}={value}" for name, value in facts.items())]))
