"""What stands for a document as a whole, for the vector of its own, without IO."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LETTERS_A_TOKEN = 5  # of long words of ordinary text: what is cut off would not be read
HEADINGS_SHARE = 1 / 3  # of what the model reads


def summary_text(
    title: str, summary: str | None, headings: Iterable[Sequence[str]], beginning: Iterable[str], most_tokens: int
) -> str:
    """The title and the summary; without one the title, each heading once, and the beginning of the text.

    `headings` are the paths of its chunks in their order. Cut to about what a model of `most_tokens` reads.
    """
    most = most_tokens * LETTERS_A_TOKEN
    if summary and summary.strip():
        return f"{title}\n{summary.strip()}"[:most]
    named = [one for one in dict.fromkeys(heading for path in headings for heading in path) if one != title]
    outline = "\n".join(named)[: int(most * HEADINGS_SHARE)]
    return "\n".join(part for part in (title, outline, *beginning) if part)[:most]
