"""What a chat says of the artifact: lines that are selected, and actions by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from attractor_client.errors import AttractorError
from contracts.artifact_actions import ArtifactAction, ArtifactTheme, MarkedSpan
from contracts.artifacts import ArtifactView
from contracts.quick_actions import QuickAction

_LINES = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


def selected(view: ArtifactView, lines: str) -> MarkedSpan:
    """Returns lines such as `3-5`, without the last line end. Raises AttractorError."""
    found = _LINES.fullmatch(lines)
    if found is None:
        raise AttractorError("/select takes lines and a wish, such as: /select 3-5 make it shorter")
    first, last = int(found[1]), int(found[2] or found[1])
    texts = view.text.splitlines(keepends=True)
    if not 1 <= first <= last <= len(texts):
        raise AttractorError(f"The artifact has the lines 1 to {len(texts)}")
    start = sum(map(len, texts[: first - 1]))
    text = "".join(texts[first - 1 : last]).rstrip("\r\n")
    if not text:
        raise AttractorError("There is no text in these lines")
    return MarkedSpan(version=view.index, start=start, end=start + len(text), text=text)


def numbered(text: str) -> str:
    """Returns the text with the numbers of its lines."""
    return "\n".join(f"{number:4}  {line}" for number, line in enumerate(text.splitlines(), 1))


def action_of(name: str, quick_actions: Sequence[QuickAction]) -> ArtifactAction | ArtifactTheme | UUID:
    """Returns a quick action by its name, an action of the artifact, or a theme such as `language=german`.

    Raises AttractorError.
    """
    for one in quick_actions:
        if one.name.casefold() == name.casefold() or str(one.id) == name:
            return one.id
    if name in ArtifactAction.__members__:
        return ArtifactAction(name)
    option, _, value = name.partition("=")
    if option in ArtifactTheme.model_fields:
        try:
            return ArtifactTheme.model_validate({option: value or True})
        except ValueError:
            raise AttractorError(f"There is no {option} {value}") from None
    known = [*(one.name for one in quick_actions), *ArtifactAction.__members__, *ArtifactTheme.model_fields]
    raise AttractorError(f"/do takes one of: {', '.join(known)}")
