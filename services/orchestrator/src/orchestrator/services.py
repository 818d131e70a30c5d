"""The other services that a run asks, over HTTP, in the name of the run's user."""

from __future__ import annotations

from typing import Protocol, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from contracts.memory import RecallRequest, RecallResponse
from contracts.retrieval import SearchRequest, SearchResponse
from orchestrator.errors import ServiceFailed
from service_kit.auth import Principal, Tokens
from service_kit.tracing import outgoing_headers

Answer = TypeVar("Answer", bound=BaseModel)
ATTEMPTS = 3


class Retrieval(Protocol):
    async def search(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        """Raises ServiceFailed."""
        ...


class Memory(Protocol):
    async def recall(self, caller: Principal, request: RecallRequest) -> RecallResponse:
        """Raises ServiceFailed."""
        ...


class HttpService:
    """One service at its base URL. Connection errors are tried again; timeouts and error answers are not."""

    def __init__(self, name: str, client: httpx2.AsyncClient, base_url: str, tokens: Tokens, timeout: float) -> None:
        """`timeout` in seconds, for one attempt."""
        self.name, self.client, self.tokens = name, client, tokens
        self.base_url, self.timeout = base_url.rstrip("/"), timeout

    async def post(self, path: str, caller: Principal, body: BaseModel, answer: type[Answer]) -> Answer:
        """Raises ServiceFailed, whatever went wrong."""
        try:
            response = await self._send(path, caller, body)
            response.raise_for_status()
            return answer.model_validate_json(response.content)
        except httpx2.TimeoutException as error:
            raise ServiceFailed(f"{self.name} did not answer within {self.timeout:g} s") from error
        except httpx2.HTTPStatusError as error:
            raise ServiceFailed(f"{self.name} answered with status {error.response.status_code}") from error
        except httpx2.RequestError as error:
            raise ServiceFailed(f"{self.name} cannot be reached ({type(error).__name__})") from error
        except ValidationError as error:
            raise ServiceFailed(f"{self.name} gave an answer that cannot be read") from error

    @retry(
        retry=retry_if_exception_type((httpx2.NetworkError, httpx2.RemoteProtocolError)),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.05, max=0.5),
        reraise=True,
    )
    async def _send(self, path: str, caller: Principal, body: BaseModel) -> httpx2.Response:
        headers = {
            **outgoing_headers(),
            "Authorization": f"Bearer {self.tokens.sign(caller)}",
            "Content-Type": "application/json",
        }
        content = body.model_dump_json(exclude_none=True)
        return await self.client.post(self.base_url + path, content=content, headers=headers, timeout=self.timeout)


class HttpRetrieval(HttpService):
    async def search(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        """Raises ServiceFailed."""
        return await self.post("/v1/search", caller, request, SearchResponse)


class HttpMemory(HttpService):
    async def recall(self, caller: Principal, request: RecallRequest) -> RecallResponse:
        """Raises ServiceFailed."""
        return await self.post("/v1/memories/recall", caller, request, RecallResponse)
