"""Remembers what a model's endpoint refuses, so that it is not sent again."""

import re
from dataclasses import dataclass, field
from typing import Any

from inference.errors import ContextTooLong, ProviderRejected

# Options that a provider may not support, with the words that its refusal uses for them.
_OPTIONAL = {"stream_options": ("stream_options",), "response_format": ("response_format", "json_schema", "schema")}
_WINDOW = re.compile(r"(?:context|length|window|n_ctx|maximum|limit|max)\D{0,60}?(\d[\d,]{2,9})", re.IGNORECASE)
_NO_IMAGES = re.compile(
    r"\b(?:image|vision|multimodal|image_url)\w*\b.{0,80}\b(?:not|no|unsupported|cannot|only)\b"
    r"|\b(?:not|no|unsupported|cannot|only)\b.{0,80}\b(?:image|vision|multimodal|image_url)",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"\btools?\b.{0,60}\b(?:not|unsupported)\b|\b(?:not|unsupported)\b.{0,60}\btools?\b", re.IGNORECASE
)
_SMALLEST_WINDOW = 256


@dataclass(slots=True)
class Refusals:
    """What a model at an endpoint refuses: parameters with their other names, abilities; None means unknown."""

    names: dict[str, str] = field(default_factory=dict)
    context_tokens: int | None = None
    vision: bool | None = None
    tools: bool | None = None

    def accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns `body` with the parameter names that this provider accepts, without unset values."""
        named = {self.names.get(name, name): value for name, value in body.items() if value is not None}
        named.pop("", None)
        return named

    def learn(self, refusal: ProviderRejected, sent: dict[str, Any]) -> None:
        """Records what a provider rejects: the name `max_tokens`, a temperature, a schema, images."""
        if isinstance(refusal, ContextTooLong):
            self._learn_window(refusal.detail)
            return
        self._learn_names(refusal, sent)
        if _has_images(sent) and _NO_IMAGES.search(refusal.detail):
            self.vision = False
        if "tools" in sent and _NO_TOOLS.search(refusal.detail):
            self.tools = False

    def _learn_names(self, refusal: ProviderRejected, sent: dict[str, Any]) -> None:
        lowered = refusal.detail.lower()
        if refusal.status in {400, 422}:
            for name, words in _OPTIONAL.items():
                if name in sent and any(word in lowered for word in words):
                    self.names[name] = ""
        if refusal.status == 400 and "unsupported" in lowered:
            if "max_completion_tokens" in refusal.detail:
                self.names["max_tokens"] = "max_completion_tokens"
            elif "temperature" in refusal.detail:
                self.names["temperature"] = ""

    def _learn_window(self, detail: str) -> None:
        found = _WINDOW.search(detail)
        tokens = int(found[1].replace(",", "")) if found else 0
        if tokens >= _SMALLEST_WINDOW:
            self.context_tokens = tokens


def _has_images(sent: dict[str, Any]) -> bool:
    return any(
        isinstance(message["content"], list) and any(part.get("type") == "image_url" for part in message["content"])
        for message in sent.get("messages", ())
    )
