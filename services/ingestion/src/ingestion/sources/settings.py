"""What the operator allows sources to reach. Read by the API, which checks them, the workers and the scheduler."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import NoDecode

from ingestion.sources.addresses import AllowedAddresses, allowed_addresses
from service_kit.settings import Environment

MEBIBYTE = 1024 * 1024


def _paths(value: object) -> object:
    return [Path(one) for one in value.split(os.pathsep) if one] if isinstance(value, str) else value


def _addresses(value: object) -> object:
    return allowed_addresses(value) if isinstance(value, str) else value


def _decoded(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not a JSON object") from None


def _proxy(url: SecretStr) -> SecretStr:
    parts = urlsplit(url.get_secret_value())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is not the URL of an HTTP proxy, such as http://proxy.example:3128")
    return url


class S3Connection(BaseModel):
    """An S3 endpoint, host:port without a scheme, and its credentials. `buckets`: only these; none named: all."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    endpoint: str = Field(pattern=r"^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:]+\](:\d{1,5})?$")
    access_key: str = Field(min_length=1)
    secret_key: SecretStr
    secure: bool = True
    region: str = "us-east-1"
    buckets: tuple[str, ...] = ()


class WebSettings(Environment):
    """`web_allowed_networks`: networks (CIDR), addresses and host names beyond the public internet, with commas.

    With `web_proxy` the proxy resolves names and connects: it has to refuse internal addresses itself. The name in
    `web_user_agent` before the slash is the one that robots.txt may address. Seconds: `web_timeout_seconds` without a
    sign of the server, `web_download_seconds` for a whole answer, `web_max_delay_seconds` for what robots.txt
    (Crawl-delay) or an overloaded server (Retry-After) may ask for between two requests.
    """

    web_user_agent: str = Field(
        default="Attractor/1.0 (document workspace; reads pages that its users have added)",
        pattern=r"^[A-Za-z_-]+/[\x20-\x7e]+$",
    )
    web_allowed_networks: Annotated[AllowedAddresses, NoDecode, BeforeValidator(_addresses)] = AllowedAddresses()
    web_proxy: Annotated[SecretStr, AfterValidator(_proxy)] | None = None
    web_timeout_seconds: float = Field(default=20.0, gt=0)
    web_download_seconds: float = Field(default=300.0, gt=0)
    web_max_delay_seconds: float = Field(default=10.0, ge=0)
    web_max_page_bytes: int = Field(
        default=10 * MEBIBYTE, gt=0, description="Larger content is downloaded only to be stored, not read for links"
    )


class S3SourceSettings(Environment):
    """`source_s3_connections`: a JSON object of connections by name. `s3_bucket` is our own, which is no source."""

    source_s3_connections: Annotated[dict[str, S3Connection], NoDecode, BeforeValidator(_decoded)] = {}
    s3_endpoint: str = ""
    s3_bucket: str = "attractor"


class FolderSettings(Environment):
    """`source_roots`: where folder and git sources may lie, separated as in PATH; without any, they are refused."""

    source_roots: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_paths)] = ()
    source_max_files: int = Field(default=100_000, gt=0, description="Files that one source may list")


class SourceSettings(FolderSettings, WebSettings, S3SourceSettings):
    """All of it."""
