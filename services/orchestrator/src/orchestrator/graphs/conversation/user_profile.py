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
    """The profile of a run's user, loaded once per attempt, with the memories if these are recalled.

    Unless it is `used`, it is in no prompt.
    """

    caller: Principal
    memory: MemoryService
    events: RunEvents
    used: bool = True
    _told: MemoryProfile | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)

    @property
    def tokens_to_ask(self) -> int:
        """Returns the budget with which it is still to be asked for; 0 if it is not."""
        return PROFILE_TOKENS if self.used and not self._asked else 0

    def take(self, told: MemoryProfile | None) -> None:
        """Takes what memory told with the memories; None if it did not answer, which is not asked again."""
        self._told, self._asked = told, True

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
