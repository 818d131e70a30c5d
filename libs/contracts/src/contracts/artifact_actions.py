"""What a message may request for its session's artifact, in addition to its text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Request, storable

LONGEST_HIGHLIGHT = 100_000
SeenText = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_HIGHLIGHT), AfterValidator(storable)]


class ArtifactAction(StrEnum):
    """What a run can do to the artifact of its session."""

    generate_artifact = "generate_artifact"
    rewrite_artifact = "rewrite_artifact"
    rewrite_artifact_theme = "rewrite_artifact_theme"
    rewrite_code_artifact_theme = "rewrite_code_artifact_theme"
    update_artifact = "update_artifact"
    update_highlighted_text = "update_highlighted_text"
    custom_action = "custom_action"


class ThemeLanguage(StrEnum):
    arabic = "arabic"
    chinese = "chinese"
    dutch = "dutch"
    english = "english"
    french = "french"
    german = "german"
    hindi = "hindi"
    italian = "italian"
    japanese = "japanese"
    polish = "polish"
    portuguese = "portuguese"
    spanish = "spanish"
    turkish = "turkish"
    ukrainian = "ukrainian"


class ThemeLength(StrEnum):
    shortest = "shortest"
    short = "short"
    long = "long"
    longest = "longest"


class ThemeReadingLevel(StrEnum):
    pirate = "pirate"
    child = "child"
    teenager = "teenager"
    college = "college"
    expert = "expert"


class ThemeProgrammingLanguage(StrEnum):
    c = "c"
    cpp = "cpp"
    csharp = "csharp"
    go = "go"
    html = "html"
    java = "java"
    javascript = "javascript"
    kotlin = "kotlin"
    php = "php"
    python = "python"
    ruby = "ruby"
    rust = "rust"
    sql = "sql"
    typescript = "typescript"


class MarkedSpan(Request):
    """Characters `start` to `end` of a version of the artifact, and the text that was seen there.

    Only this is changed. If later edits moved the text, it is found again.
    """

    version: int = Field(ge=1, le=1_000_000)
    start: int = Field(ge=0, le=100_000_000)
    end: int = Field(ge=1, le=100_000_000)
    text: SeenText

    @model_validator(mode="after")
    def _is_a_span(self) -> MarkedSpan:
        if self.end <= self.start:
            raise ValueError("end must be greater than start")
        if self.end - self.start != len(self.text):
            raise ValueError("text must have as many characters (Unicode code points) as lie between start and end")
        return self


class ArtifactTheme(Request):
    """How the artifact is rewritten: the first four are for texts, the others for code. They cannot be mixed."""

    language: ThemeLanguage | None = None
    artifact_length: ThemeLength | None = None
    reading_level: ThemeReadingLevel | None = None
    regenerate_with_emojis: bool | None = None
    add_comments: bool | None = None
    add_logs: bool | None = None
    port_language: ThemeProgrammingLanguage | None = None
    fix_bugs: bool | None = None

    @property
    def action(self) -> ArtifactAction:
        """Returns the action that applies the theme."""
        of_code = ("add_comments", "add_logs", "port_language", "fix_bugs")
        if any(getattr(self, name) for name in of_code):
            return ArtifactAction.rewrite_code_artifact_theme
        return ArtifactAction.rewrite_artifact_theme

    @model_validator(mode="after")
    def _is_one_theme(self) -> ArtifactTheme:
        text = (self.language, self.artifact_length, self.reading_level, self.regenerate_with_emojis)
        code = (self.add_comments, self.add_logs, self.port_language, self.fix_bugs)
        if not any(text) and not any(code):
            raise ValueError("must ask for something")
        if any(text) and any(code):
            raise ValueError("must not ask for a text and for code at once")
        return self
