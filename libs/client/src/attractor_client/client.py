"""The client: one object with a part for each resource of the API."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx2

from attractor_client.http.retry import RetryPolicy
from attractor_client.http.transport import Transport
from attractor_client.resources.accounts import Accounts
from attractor_client.resources.artifacts import SessionArtifacts
from attractor_client.resources.audit import Audit
from attractor_client.resources.context import Context
from attractor_client.resources.documents import Documents
from attractor_client.resources.events import Events
from attractor_client.resources.feedback import Feedback
from attractor_client.resources.graph import Graph
from attractor_client.resources.memories import Memories
from attractor_client.resources.operations import ServiceOperations
from attractor_client.resources.quick_actions import QuickActions
from attractor_client.resources.refinement import GraphRefinement
from attractor_client.resources.runs import Runs
from attractor_client.resources.search import Search
from attractor_client.resources.search_settings import WorkspaceSearchSettings
from attractor_client.resources.sessions import Sessions
from attractor_client.resources.shares import SessionShares
from attractor_client.resources.sources import Sources
from attractor_client.resources.spaces import EmbeddingSpaces
from attractor_client.resources.usage import ModelUsage
from attractor_client.resources.workspace_settings import AnswerPresets, OpenAIModels, WorkspaceSettings
from attractor_client.resources.world import WorldState


class AttractorClient:
    """A client for the gateway at `url`. Use it with `async with`, or call `aclose`.

    `timeout` is in seconds, for each wait on the connection and not for a whole call. Calls raise an AttractorError
    when they fail. Proxies are taken from the environment, except for servers on this machine.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        carrier: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Raises ValueError if the URL or the key is malformed. `carrier` sends the requests instead of the network."""
        self.transport = Transport(url, api_key, timeout, retry or RetryPolicy(), carrier)
        self.accounts = Accounts(self.transport)
        self.audit = Audit(self.transport)
        self.operations = ServiceOperations(self.transport)
        self.events = Events(self.transport)
        self.documents = Documents(self.transport)
        self.sources = Sources(self.transport)
        self.search = Search(self.transport)
        self.context = Context(self.transport)
        self.search_settings = WorkspaceSearchSettings(self.transport)
        self.spaces = EmbeddingSpaces(self.transport)
        self.graph = Graph(self.transport)
        self.refinement = GraphRefinement(self.transport)
        self.memories = Memories(self.transport)
        self.world = WorldState(self.transport)
        self.runs = Runs(self.transport)
        self.sessions = Sessions(self.transport, self.runs)
        self.artifacts = SessionArtifacts(self.transport)
        self.quick_actions = QuickActions(self.transport)
        self.feedback = Feedback(self.transport)
        self.usage = ModelUsage(self.transport)
        self.models = OpenAIModels(self.transport)
        self.settings = WorkspaceSettings(self.transport)
        self.presets = AnswerPresets(self.transport)
        self.shares = SessionShares(self.transport)

    async def aclose(self) -> None:
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
