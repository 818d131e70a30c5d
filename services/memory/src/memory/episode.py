"""The text of an episode: what was asked and answered, cut to a bounded length."""

from contracts.events import TurnCompleted

LONGEST_QUESTION = 2_000
LONGEST_ANSWER = 4_000


def episode_text(turn: TurnCompleted) -> str:
    """At most about 6,000 characters."""
    return f"Question: {_cut(turn.question, LONGEST_QUESTION)}\nAnswer: {_cut(turn.answer, LONGEST_ANSWER)}"


def _cut(text: str, longest: int) -> str:
    text = text.strip()
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
