"""What is known of the user, for prompts that write texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from contracts.events import ProviderIssue
from contracts.memory import MemoryProfile
from orchestrator.graphs.conversation.passages import NONE, remembered
from orchestrator.runs.events import RunEvents
from orchestrator.services import MemoryService
from service_kit.auth import Principal
from service_kit.problems import ServiceSilent

PROFILE_TOKENS = 300
DEADLINE_SECONDS = 5.0
LATE = f"memory did not tell the user's profile within {DEADLINE_SECONDS:g} s"


@dataclass
class UserProfile:
    """The profile of a run's user, loaded once per attempt, in parallel with the search if there is one.

    Unless it is `used`, it is in no prompt.
    """

    caller: Principal
    memory: MemoryService
    events: RunEvents
    used: bool = True
    _told: MemoryProfile | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)

    async def ask(self) -> list[str]:
        """Asks memory, unless that was done; returns and emits an issue if it does not answer in time."""
        if self._asked or not self.used:
            return []
        self._asked = True
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                self._told = await self.memory.profile(self.caller, PROFILE_TOKENS)
        except (ServiceSilent, TimeoutError) as error:
            issue = str(error) or LATE
            self.events.emit(ProviderIssue(message=issue))
            return [issue]
        return []

    async def text(self, issues: list[str]) -> str:
        """Returns one line per statement, none of which can close the fence; adds to the issues."""
        issues += await self.ask()
        told = self._told
        return NONE if told is None else remembered([*told.style, *told.facts])
