"""The connection to one provider that speaks the OpenAI API: requests, what its errors mean, and its API key."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from contracts.backoff import retry_after_seconds
from inference.errors import ContextTooLong, InvalidApiKey, ProviderRejected, ProviderUnavailable, UnreadableReply

_PASSING = frozenset({408, 425, 429})
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|(input|prompt) is too long", re.I
)
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `read` is the longest silence of the provider, not the length of the whole reply."""

    connect: float = 5.0
    read: float = 60.0


class Provider:
    """Sends requests to `base_url` (with its `/v1`, as providers print it) and raises ProviderError subclasses.

    No error holds the API key, also when the provider repeats it.
    """

    def __init__(self, base_url: str, api_key: str | None, timeouts: Timeouts) -> None:
        """Raises InvalidApiKey."""
        self._api_key = api_key
        headers = {}
        if api_key:
            if not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
                raise InvalidApiKey
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx2.AsyncClient(
            base_url=base_url.rstrip("/") + "/",
            headers=headers,
            timeout=httpx2.Timeout(timeouts.read, connect=timeouts.connect),
        )

    async def json(self, method: str, path: str, body: object = None) -> Any:
        """The reply's body, parsed."""
        with self.errors():
            response = await self._client.request(method, path, json=body)
        if not response.is_success:
            raise self._refusal(response)
        try:
            return response.json()
        except ValueError:
            raise UnreadableReply("not JSON") from None

    async def stream(self, path: str, body: object) -> httpx2.Response:
        """A successful event stream whose body is still to be read; the caller closes it."""
        with self.errors():
            request = self._client.build_request("POST", path, json=body, headers={"Accept": "text/event-stream"})
            response = await self._client.send(request, stream=True)
            streams = "text/event-stream" in response.headers.get("Content-Type", "")
            if response.is_success and streams:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
        raise UnreadableReply("not an event stream") if response.is_success else self._refusal(response)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns httpx2's errors into ProviderUnavailable."""
        try:
            yield
        except httpx2.TimeoutException as error:
            raise ProviderUnavailable(f"no reply in time ({type(error).__name__})") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise ProviderUnavailable(self._clean(str(error)) or type(error).__name__) from error

    def failure(
        self, status: int, payload: object, retry_after: str | None = None
    ) -> ProviderUnavailable | ProviderRejected:
        """What an error reply means: `status` as in HTTP, `payload` in any of the usual shapes."""
        message, code = _explanation(payload)
        message = self._clean(message)
        if status >= 500 or status in _PASSING:
            detail = f"status {status}: {message}" if message else f"status {status}"
            return ProviderUnavailable(detail, retry_after=retry_after_seconds(retry_after), status=status)
        if code == "context_length_exceeded" or (status in {400, 413, 422} and _TOO_LONG.search(message)):
            return ContextTooLong(message, status=status)
        return ProviderRejected(message, status=status)

    async def aclose(self) -> None:
        await self._client.aclose()

    def _refusal(self, response: httpx2.Response) -> ProviderUnavailable | ProviderRejected:
        try:
            payload: object = response.json()
        except ValueError:
            payload = response.text
        return self.failure(response.status_code, payload, response.headers.get("Retry-After"))

    def _clean(self, message: str) -> str:
        if self._api_key:
            message = message.replace(self._api_key, "***")
        return " ".join(message[:_LONGEST_MESSAGE].split())


def _explanation(payload: object) -> tuple[str, str]:
    """The message and the code of `{"error": {"message", "code"}}`, `{"error": "..."}`, or what else came."""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or json.dumps(error)
        return str(message), str(error.get("code") or error.get("type") or "")
    return str(error), ""
