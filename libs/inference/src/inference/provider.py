"""The connection to one provider with the OpenAI API: requests, errors, and the API key."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2

from contracts.backoff import retry_after_seconds
from inference.errors import (
    ContextTooLong,
    InvalidApiKey,
    ProviderRejected,
    ProviderSilent,
    ProviderUnavailable,
    UnreadableReply,
)

if TYPE_CHECKING:
    from openai._types import RequestOptions

_PASSING = frozenset({408, 425, 429})
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|(input|prompt) is too long", re.I
)
_LONGEST_MESSAGE = 500

IDLE_CONNECTIONS = 100


@cache
def _trusted() -> ssl.SSLContext:
    """Reads the certificates once per process, which takes about 60 ms."""
    return httpx2.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits in seconds. `read` is how long the provider may send nothing, not the duration of the whole reply."""

    connect: float = 5.0
    read: float = 60.0


class Provider:
    """Sends requests below `base_url` (including `/v1`, as providers document it) and raises ProviderError subclasses.

    No error contains the API key, even if the provider repeats it.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        timeouts: Timeouts,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """`transport` replaces the default one for connections. Raises InvalidApiKey."""
        if api_key and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            raise InvalidApiKey
        import openai  # noqa: PLC0415 - takes 24 MB, which a deployment without a provider saves

        self.base_url = base_url
        self._api_key = api_key
        self._openai, self._stream_class = openai, openai.AsyncStream[object]
        self._options: RequestOptions = {} if api_key else {"headers": {"Authorization": openai.Omit()}}
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            max_retries=0,  # `RetryPolicy` decides, including for replies that break off
            http_client=httpx2.AsyncClient(
                verify=_trusted(),
                timeout=httpx2.Timeout(timeouts.read, connect=timeouts.connect),
                follow_redirects=False,
                transport=transport,
                # Callers limit their concurrent calls themselves: waiting here would count as a provider's silence.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS),
            ),
        )

    async def get(self, path: str, *, seconds: float | None = None) -> Any:
        """Returns the reply's JSON. `path` may be a full URL; `seconds` replaces the timeouts."""
        with self.errors():
            return await self._client.get(path, cast_to=object, options=self._within(seconds))

    async def post(self, path: str, body: object, *, seconds: float | None = None) -> Any:
        """Returns the reply's JSON, as `get` does."""
        with self.errors():
            return await self._client.post(path, cast_to=object, body=body, options=self._within(seconds))

    async def stream(self, path: str, body: object) -> httpx2.Response:
        """Returns a successful event stream whose body is still to be read under `errors`; the caller closes it.

        The SDK's own iterator would not tell a stream that ends with `[DONE]` from one that was cut off.
        """
        with self.errors():
            stream = await self._client.post(
                path, cast_to=object, body=body, options=self._options, stream=True, stream_cls=self._stream_class
            )
        response = stream.response
        if "text/event-stream" not in response.headers.get("Content-Type", ""):
            await response.aclose()
            raise UnreadableReply("not an event stream")
        return response

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Translates errors of the SDK, and of streams read without it, into ProviderError subclasses."""
        try:
            yield
        except self._openai.APIStatusError as error:
            raise self.failure(error.status_code, error.body, error.response.headers.get("Retry-After")) from error
        except (self._openai.APIConnectionError, httpx2.TransportError, httpx2.DecodingError) as error:
            cause = error.__cause__ if isinstance(error, self._openai.APIConnectionError) else error
            if isinstance(cause, httpx2.TimeoutException):
                raise ProviderSilent(type(cause).__name__) from error
            raise ProviderUnavailable(self._clean(str(cause or error)) or type(cause).__name__) from error
        except ValueError as error:
            raise UnreadableReply("not JSON") from error

    def failure(
        self, status: int, payload: object, retry_after: str | None = None
    ) -> ProviderUnavailable | ProviderRejected:
        """Returns the error for a reply: `status` as in HTTP, `payload` in any of the usual shapes."""
        message, code = _explanation(payload)
        message = self._clean(message)
        if status >= 500 or status in _PASSING:
            detail = f"status {status}: {message}" if message else f"status {status}"
            return ProviderUnavailable(detail, retry_after=retry_after_seconds(retry_after), status=status)
        if code == "context_length_exceeded" or (status in {400, 413, 422} and _TOO_LONG.search(message)):
            return ContextTooLong(message, status=status)
        return ProviderRejected(message, status=status)

    async def aclose(self) -> None:
        await self._client.close()

    def _within(self, seconds: float | None) -> RequestOptions:
        return self._options if seconds is None else {**self._options, "timeout": seconds}

    def _clean(self, message: str) -> str:
        if self._api_key:
            message = message.replace(self._api_key, "***")
        return " ".join(message[:_LONGEST_MESSAGE].split())


def _explanation(payload: object) -> tuple[str, str]:
    """Returns the message and the code of `{"error": {"message", "code"}}`, `{"error": "..."}` or anything else."""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or json.dumps(error)
        return str(message), str(error.get("code") or error.get("type") or "")
    return str(error), ""
