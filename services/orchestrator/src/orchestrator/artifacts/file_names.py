"""Names the file of an artifact. Pure."""

from __future__ import annotations

import re

from contracts.artifacts import ArtifactKind, ArtifactView

LONGEST = 100
UNSUITABLE = re.compile(r"[^\w.+-]+")
EXTENSIONS = {
    "bash": "sh", "c": "c", "c++": "cpp", "cpp": "cpp", "csharp": "cs", "css": "css", "go": "go", "html": "html",
    "java": "java", "javascript": "js", "json": "json", "kotlin": "kt", "php": "php", "python": "py", "r": "r",
    "ruby": "rb", "rust": "rs", "shell": "sh", "sql": "sql", "swift": "swift", "toml": "toml", "typescript": "ts",
    "xml": "xml", "yaml": "yaml",
}  # fmt: skip


def extension(view: ArtifactView) -> str:
    """Returns the extension of the text itself: that of Markdown or of its language, or txt."""
    if view.kind is not ArtifactKind.code:
        return "md"
    return EXTENSIONS.get((view.language or "").lower(), "txt")


def file_name(view: ArtifactView, ending: str | None = None) -> str:
    """Returns the title as a file name, by default with the text's own extension."""
    ending = ending or extension(view)
    stem = UNSUITABLE.sub("-", (view.title or "artifact").removesuffix(f".{ending}")).strip("-.")[:LONGEST]
    return f"{stem or 'artifact'}.{ending}"
