"""How a chat refers to the artifact: selected lines, and actions by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import EnumType
from typing import get_args
from uuid import UUID

from attractor_client.errors import AttractorError
from contracts.artifact_actions import ArtifactAction, ArtifactTheme, MarkedSpan
from contracts.artifacts import ArtifactView
from contracts.quick_actions import QuickAction

# Actions that need only their name; the others need a selection, a theme's option or a quick action.
BY_NAME = (ArtifactAction.rewrite_artifact, ArtifactAction.update_artifact, ArtifactAction.generate_artifact)
_LINES = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


def selected(view: ArtifactView, lines: str) -> MarkedSpan:
    """Returns the span of lines such as `3-5`, without the final line ending. Raises AttractorError."""
    found = _LINES.fullmatch(lines)
    if found is None:
        raise AttractorError("/select takes lines and a wish, such as: /select 3-5 make it shorter")
    first, last = int(found[1]), int(found[2] or found[1])
    texts = view.text.splitlines(keepends=True)
    if not 1 <= first <= last <= len(texts):
        raise AttractorError(f"The artifact has lines 1 to {len(texts)}")
    start = sum(map(len, texts[: first - 1]))
    text = "".join(texts[first - 1 : last]).rstrip("\r\n")
    if not text:
        raise AttractorError("There is no text in these lines")
    return MarkedSpan(version=view.index, start=start, end=start + len(text), text=text)


def numbered(text: str) -> str:
    """Returns the text with line numbers."""
    return "\n".join(f"{number:4}  {line}" for number, line in enumerate(text.splitlines(), 1))


def action_of(name: str, quick_actions: Sequence[QuickAction]) -> ArtifactAction | ArtifactTheme | UUID:
    """Returns the quick action, the artifact action or the theme (such as `language=german`) of this name.

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
            raise AttractorError(f"/do takes {_theme(option)}") from None
    raise AttractorError("\n".join(["/do takes one of these, and words behind it:", *_known(quick_actions)]))


def _known(quick_actions: Sequence[QuickAction]) -> Iterator[str]:
    if quick_actions:
        yield f"  quick actions  {', '.join(one.name for one in quick_actions)}"
    yield f"  actions        {', '.join(BY_NAME)}"
    for option in ArtifactTheme.model_fields:
        yield f"  theme          {_theme(option)}"


def _theme(option: str) -> str:
    """Returns the syntax of an option of a theme."""
    kinds = get_args(ArtifactTheme.model_fields[option].annotation)
    values: list[str] = next((list(kind) for kind in kinds if isinstance(kind, EnumType)), [])
    return f"{option}={'|'.join(values)}" if values else option
