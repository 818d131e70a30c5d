"""attractor models"""

from __future__ import annotations

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output

BREAKERS = {
    None: "none: answers quote the documents",
    "closed": "in use",
    "open": "not called for a while, as it kept failing",
    "half-open": "being tried again",
}


@connected()
async def models(client: AttractorClient, output: Output) -> None:
    """List the model names that OpenAI API clients can use: `attractor`, `attractor-plain` and presets."""
    listed = await client.models.all()
    if output.as_json:
        output.json(listed)
        return
    rows = [(one.id, one.description, BREAKERS[one.breaker]) for one in listed.data]
    output.table(("model", "answers", "chat model"), rows)
