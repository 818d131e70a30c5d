"""attractor models"""

from __future__ import annotations

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output


@connected()
async def models(client: AttractorClient, output: Output) -> None:
    """List what clients of the OpenAI API may name as the model: `attractor`, `attractor-plain` and presets."""
    listed = await client.models.all()
    if output.as_json:
        output.json(listed)
        return
    output.table(("model", "answers"), [(one.id, one.description) for one in listed.data])
