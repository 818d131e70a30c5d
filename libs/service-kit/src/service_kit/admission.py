"""Decides which events a consumer accepts: right source, own objects, and a deletion only if its owner confirms it.

Anyone who can write to a stream can write anything there. So before something is erased, the service that owns it must
confirm the deletion (gateway: of a workspace; ingestion: of a document; orchestrator: of a session).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from contracts.events import BY_TYPE, Event, EventRefused, event_data
from service_kit.problems import ServiceSilent

# Returns for each event whether its owner confirms it; all are of one type and one workspace. Raises ServiceSilent.
Owner = Callable[[Sequence[Event]], Awaitable[Sequence[bool]]]


class AdmissionVerdict(StrEnum):
    """`waiting`: the owner did not answer; the event stays with the group and is asked about again."""

    admitted = "admitted"
    refused = "refused"
    waiting = "waiting"


@dataclass(frozen=True)
class Decision:
    verdict: AdmissionVerdict
    reason: str = ""


ADMITTED = Decision(AdmissionVerdict.admitted)
DENIED = Decision(AdmissionVerdict.refused, "the owner of the fact denies it")


@dataclass(frozen=True)
class Admission:
    """`owners`, by service name, are asked before a deletion event of that service is handled."""

    owners: Mapping[str, Owner] = field(default_factory=dict)

    async def decide(self, events: Sequence[Event]) -> list[Decision]:
        """Returns a decision for each event. The owner is asked once for all events of one type and workspace.

        Decisions are by position, because a forged event may carry the id of a genuine one.
        """
        decisions = [_by_itself(event) for event in events]
        by_owner = defaultdict[tuple[str, UUID], list[int]](list)
        for position, event in enumerate(events):
            if decisions[position] is ADMITTED and BY_TYPE[event.type].owner:
                by_owner[event.type, event.workspace_id].append(position)
        for (kind, _), positions in by_owner.items():
            owner = self.owner_of(kind)
            assert owner is not None
            answers = await _decisions(owner, [events[position] for position in positions])
            for position, answer in zip(positions, answers, strict=True):
                decisions[position] = answer
        return decisions

    def owner_of(self, kind: str) -> Owner | None:
        """Returns the owner of events of this type, None if they have none. Raises ValueError if it is missing."""
        data = BY_TYPE.get(kind)
        if data is None or data.owner is None:
            return None
        if data.owner not in self.owners:
            raise ValueError(f"nobody to ask whether {kind} is true: {data.owner} is not among the owners")
        return self.owners[data.owner]


def _by_itself(event: Event) -> Decision:
    try:
        event_data(event)
    except EventRefused as error:
        return Decision(AdmissionVerdict.refused, str(error))
    return ADMITTED


async def _decisions(owner: Owner, events: Sequence[Event]) -> list[Decision]:
    try:
        confirmed = await owner(events)
    except ServiceSilent as error:
        return [Decision(AdmissionVerdict.waiting, str(error))] * len(events)
    return [ADMITTED if one else DENIED for one in confirmed]
