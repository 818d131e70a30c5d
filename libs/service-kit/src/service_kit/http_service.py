"""Another service, called over HTTP on behalf of a caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2

from service_kit.auth import Principal, Tokens
from service_kit.problems import Unavailable
from service_kit.tracing import outgoing_headers


class ServiceSilent(Unavailable):
    """There was no usable answer. The detail names the service and the reason."""

    type, title = "service-silent", "A service that this needs did not answer"


@dataclass(frozen=True)
class HttpService:
    """`base_url` None: the service is not part of this deployment. `seconds` limits each whole answer."""

    name: str
    client: httpx2.AsyncClient
    tokens: Tokens
    base_url: str | None
    seconds: float

    @property
    def is_there(self) -> bool:
        return self.base_url is not None

    async def ask(self, caller: Principal, method: str, path: str, **more: Any) -> httpx2.Response:
        """Returns any answer but a failure of the server. Raises ServiceSilent."""
        if self.base_url is None:
            raise ServiceSilent(f"{self.name} is not there in this deployment")
        headers = {**outgoing_headers(), "Authorization": f"Bearer {self.tokens.sign(caller)}"}
        url = self.base_url.rstrip("/") + path
        try:
            response = await self.client.request(method, url, headers=headers, timeout=self.seconds, **more)
        except httpx2.TimeoutException as error:
            raise ServiceSilent(f"{self.name} did not answer within {self.seconds:g} s") from error
        except httpx2.RequestError as error:
            raise ServiceSilent(f"{self.name} cannot be reached ({type(error).__name__})") from error
        if response.status_code >= 500:
            raise ServiceSilent(f"{self.name} answered with status {response.status_code}")
        return response
