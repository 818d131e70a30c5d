"""What a model can do, and how that is known: set by hand, reported by its endpoint, learned from refusals, assumed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from inference.errors import ProviderError
from inference.provider import Provider
from inference.refusals import Refusals

Value = TypeVar("Value")
Source = Literal["set", "told", "learned", "assumed"]

ASSUMED_CONTEXT_TOKENS = 8_192
TOLD_FOR_SECONDS, SILENT_FOR_SECONDS = 3_600.0, 60.0
ASKING_SECONDS = 3.0
MOST_TOKENS = 100_000_000


@dataclass(frozen=True, slots=True)
class Known(Generic[Value]):
    """A value with its source."""

    value: Value
    source: Source


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model at an endpoint can do. None means unknown; the window is then assumed."""

    context_tokens: Known[int] = Known(ASSUMED_CONTEXT_TOKENS, "assumed")
    tools: Known[bool] | None = None
    schema: Known[bool] | None = None
    vision: Known[bool] | None = None
    thinking: Known[bool] | None = None

    def with_learned(self, refusals: Refusals) -> Capabilities:
        """Overrides what the endpoint reports with its refusals: it may serve less than the model was trained for."""
        learned: dict[str, Any] = {}
        if refusals.context_tokens is not None:
            learned["context_tokens"] = Known(refusals.context_tokens, "learned")
        if refusals.vision is not None:
            learned["vision"] = Known(refusals.vision, "learned")
        if refusals.tools is not None:
            learned["tools"] = Known(refusals.tools, "learned")
        if refusals.names.get("response_format") == "":
            learned["schema"] = Known(False, "learned")
        return replace(self, **learned)

    def with_set(self, values: SetCapabilities) -> Capabilities:
        """Overrides with values set by hand, which take precedence over everything else."""
        given = {
            name: value
            for name in ("context_tokens", "tools", "schema", "vision", "thinking")
            if (value := getattr(values, name)) is not None
        }
        return replace(self, **{name: Known(value, "set") for name, value in given.items()})


@dataclass(frozen=True, slots=True)
class SetCapabilities:
    """Values set by hand; None leaves them to the endpoint."""

    context_tokens: int | None = None
    tools: bool | None = None
    schema: bool | None = None
    vision: bool | None = None
    thinking: bool | None = None


class ReportedCapabilities:
    """What one endpoint reports of its models, asked hourly per model, or sooner if it did not answer."""

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider, self._clock = provider, clock
        self._known: dict[str, tuple[float, Capabilities]] = {}

    async def of(self, model: str) -> Capabilities:
        """Returns what is reported, or else the assumed window. An endpoint that does not answer reports nothing."""
        until, known = self._known.get(model, (0.0, Capabilities()))
        if model in self._known and self._clock() < until:
            return known
        found = await self._ask(model)
        lasting = TOLD_FOR_SECONDS if found is not None else SILENT_FOR_SECONDS
        known = found or known
        self._known[model] = (self._clock() + lasting, known)
        return known

    async def _ask(self, model: str) -> Capabilities | None:
        """Tries the known APIs in turn until one reports the window; None if none answered."""
        root = self._provider.base_url.rstrip("/").removesuffix("/v1").removesuffix("/api")
        answered = False
        found: dict[str, Any] = {}
        ways: list[Callable[[], Awaitable[dict[str, Any] | None]]] = [
            lambda: self._models(model),
            lambda: self._props(root),
            lambda: self._show(root, model),
            lambda: self._lm_studio(root, model),
        ]
        for ask in ways:
            reply = await ask()
            answered = answered or reply is not None
            found = {**(reply or {}), **found}
            if "context_tokens" in found:
                break
        return Capabilities(**{name: Known(value, "told") for name, value in found.items()}) if answered else None

    async def _get(self, url: str) -> Any:
        try:
            return await self._provider.get(url, seconds=ASKING_SECONDS)
        except ProviderError:
            return None

    async def _models(self, model: str) -> dict[str, Any] | None:
        """Returns OpenRouter's `context_length` and `supported_parameters`, or vLLM's `max_model_len`."""
        reply = await self._get("/models")
        entries = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(entries, list):
            return None
        entry = next((one for one in entries if isinstance(one, dict) and one.get("id") == model), {})
        found: dict[str, Any] = {}
        _put_window(found, entry.get("context_length"), entry.get("max_model_len"))
        if isinstance(parameters := entry.get("supported_parameters"), list):
            found["tools"] = "tools" in parameters
            found["schema"] = "structured_outputs" in parameters or "response_format" in parameters
            found["thinking"] = "reasoning" in parameters
        architecture = entry.get("architecture")
        if isinstance(architecture, dict) and isinstance(inputs := architecture.get("input_modalities"), list):
            found["vision"] = "image" in inputs
        return found

    async def _props(self, root: str) -> dict[str, Any] | None:
        """Returns the window that llama.cpp serves, its modalities and what its chat template supports."""
        reply = await self._get(f"{root}/props")
        if not isinstance(reply, dict):
            return None
        found: dict[str, Any] = {}
        serving = reply.get("default_generation_settings")
        _put_window(found, serving.get("n_ctx") if isinstance(serving, dict) else None, reply.get("n_ctx"))
        if isinstance(modalities := reply.get("modalities"), dict) and isinstance(modalities.get("vision"), bool):
            found["vision"] = modalities["vision"]
        template = reply.get("chat_template_caps")
        if isinstance(template, dict) and isinstance(template.get("supports_tools"), bool):
            found["tools"] = template["supports_tools"]
        return found

    async def _show(self, root: str, model: str) -> dict[str, Any] | None:
        """Returns Ollama's capabilities, and the configured window, else the one that the model was trained for."""
        try:
            reply = await self._provider.post(f"{root}/api/show", {"model": model}, seconds=ASKING_SECONDS)
        except ProviderError:
            return None
        if not isinstance(reply, dict):
            return None
        found: dict[str, Any] = {}
        information = reply.get("model_info")
        trained = (
            next((value for name, value in information.items() if str(name).endswith(".context_length")), None)
            if isinstance(information, dict)
            else None
        )
        _put_window(found, _num_ctx(reply.get("parameters")), trained)
        if isinstance(able := reply.get("capabilities"), list):
            found |= {name: name in able for name in ("tools", "vision", "thinking")}
        return found

    async def _lm_studio(self, root: str, model: str) -> dict[str, Any] | None:
        """Returns the window with which LM Studio has loaded the model, else the longest one."""
        reply = await self._get(f"{root}/api/v1/models")
        entries = reply.get("models") if isinstance(reply, dict) else None
        if not isinstance(entries, list):
            return None
        entry = next((one for one in entries if isinstance(one, dict) and one.get("key") == model), {})
        found: dict[str, Any] = {}
        loaded = entry.get("loaded_instances")
        served = (
            loaded[0].get("config") if isinstance(loaded, list) and loaded and isinstance(loaded[0], dict) else None
        )
        _put_window(
            found, served.get("context_length") if isinstance(served, dict) else None, entry.get("max_context_length")
        )
        if isinstance(able := entry.get("capabilities"), dict):
            if isinstance(able.get("vision"), bool):
                found["vision"] = able["vision"]
            if isinstance(able.get("trained_for_tool_use"), bool):
                found["tools"] = able["trained_for_tool_use"]
        return found


def _put_window(found: dict[str, Any], *values: Any) -> None:
    """Takes the first value that is a number of tokens."""
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_TOKENS:
            found["context_tokens"] = value
            return


def _num_ctx(parameters: Any) -> int | None:
    """Returns `num_ctx` from the parameters, which Ollama reports as lines of text."""
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isascii() and value.strip().isdigit():
            return int(value)
    return None
