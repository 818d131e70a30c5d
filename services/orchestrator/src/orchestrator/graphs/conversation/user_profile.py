"""What is known of the user, for prompts that write texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from contracts.memory import MemoryProfile
from contracts.run_events import ProviderIssue
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
    _profile: MemoryProfile | None = field(default=None, init=False)
    _is_read: bool = field(default=False, init=False)

    @property
    def tokens_to_ask(self) -> int:
        """Returns the budget with which it is still to be asked for; 0 if it is not."""
        return PROFILE_TOKENS if self.used and not self._is_read else 0

    def take(self, profile: MemoryProfile | None) -> None:
        """Takes the profile that came with the memories; None if memory did not answer; it is asked only once."""
        self._profile, self._is_read = profile, True

    async def ask(self) -> list[str]:
        """Asks memory, unless that was done; returns and emits an issue if it does not answer in time."""
        if self._is_read or not self.used:
            return []
        self._is_read = True
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                self._profile = await self.memory.profile(self.caller, PROFILE_TOKENS)
        except (ServiceSilent, TimeoutError) as error:
            issue = str(error) or LATE
            self.events.emit(ProviderIssue(message=issue))
            return [issue]
        return []

    async def text(self, issues: list[str]) -> str:
        """Returns one line per statement, none of which can close the fence; adds to the issues."""
        issues += await self.ask()
        profile = self._profile
        return NONE if profile is None else remembered([*profile.style, *profile.facts])
