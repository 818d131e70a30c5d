"""Fixed answers for actions that cannot be done. The artifact is then unchanged."""

from __future__ import annotations

from typing import Literal

RECOVERY: Literal["__recovery__"] = "__recovery__"

NO_ARTIFACT = (
    "I'd be happy to help with that, but there's no artifact to modify yet. Would you like me to create one first?"
)
NO_HIGHLIGHT = (
    "I need to know which part of the artifact you'd like me to update. Please select the text you want to modify."
)
LOST_HIGHLIGHT = (
    "The text that was selected is no longer there as it was seen, or it stands there more than once, so nothing was "
    "changed. Please select it again."
)
READ_ONLY = "The artifact of this session is a PDF: it can be read and asked about, but not changed."
NOT_CODE = "This is for code, and the artifact is a text, so nothing was changed."
NOT_TEXT = "This is for texts, and the artifact is code, so nothing was changed."
NO_MODEL = (
    "This needs a chat model, and none is configured, so nothing was changed. Set CHAT_BASE_URL and CHAT_MODEL to have "
    "documents written; until then you can write and edit the artifact by hand."
)
MODEL_FAILED = (
    "The chat model did not do it ({reason}), so the artifact is as it was. You can ask again, or edit it by hand."
)
TOO_LONG = (
    "The artifact is too long for the chat model to read as a whole, so nothing was changed. Select the part that is "
    "to be changed, or set a model with a larger context."
)
UNCLOSED_FENCE = "what it wrote leaves a code block open, also after it was told so"
NOTHING_CHANGED = "it wrote what was there before"


class SoftFailure(Exception):
    """The action cannot be done; the message is the answer. `issue` is reported by the run, if set."""

    def __init__(self, message: str, issue: str = "") -> None:
        super().__init__(message)
        self.issue = issue


def model_failed(reason: str) -> SoftFailure:
    return SoftFailure(MODEL_FAILED.format(reason=reason), f"the artifact was not changed: {reason}")
