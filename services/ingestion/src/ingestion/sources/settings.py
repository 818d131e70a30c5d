"""The operator's settings for sources, read by the API, which checks and schedules them, and by workers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import NoDecode

from service_kit.settings import AllowedNetworks, Environment
from service_kit.web_address import AllowedAddresses

MEBIBYTE = 1024 * 1024


def _roots(value: object) -> object:
    """Reads paths separated as in PATH, or a JSON list of paths and of objects with `path` and `workspaces`."""
    listed: object = value
    if isinstance(value, str):
        is_json = value.lstrip().startswith("[")
        listed = _decoded(value) if is_json else [one for one in value.split(os.pathsep) if one]
    if not isinstance(listed, list | tuple):
        return listed
    return [{"path": one} if isinstance(one, str | Path) else one for one in listed]


def _decoded(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not valid JSON") from None


def _proxy(url: SecretStr) -> SecretStr:
    parts = urlsplit(url.get_secret_value())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is not the URL of an HTTP proxy, such as http://proxy.example:3128")
    return url


class SharedPlace(BaseModel):
    """A place of this deployment. `workspaces`: ids of the workspaces whose sources may use it, or "*" for all.

    If none is listed, only the administrator's workspace may use it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    workspaces: tuple[UUID | Literal["*"], ...] = ()

    def is_open_to(self, workspace_id: UUID, is_administrators: bool) -> bool:
        if not self.workspaces:
            return is_administrators
        return "*" in self.workspaces or workspace_id in self.workspaces


class SourceRoot(SharedPlace):
    """A folder below which folder and git sources are allowed."""

    path: Path


class S3Connection(SharedPlace):
    """An S3 endpoint (host:port, without a scheme) and its credentials. `buckets`: the allowed ones; empty: all."""

    endpoint: str = Field(pattern=r"^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:]+\](:\d{1,5})?$")
    access_key: str = Field(min_length=1)
    secret_key: SecretStr
    secure: bool = True
    region: str = "us-east-1"
    buckets: tuple[str, ...] = ()


class WebSettings(Environment):
    """Web sources. Times in seconds."""

    web_user_agent: str = Field(
        default="Attractor/1.0 (document workspace; reads pages that its users have added)",
        pattern=r"^[A-Za-z_-]+/[\x20-\x7e]+$",
    )
    """The name before the slash is matched against robots.txt"""
    web_allowed_networks: AllowedNetworks = AllowedAddresses()
    """What web sources may reach besides the public internet: networks (CIDR), addresses and host names,
    separated by commas"""
    web_proxy: Annotated[SecretStr, AfterValidator(_proxy)] | None = None
    """http://user:password@host:port; the proxy resolves names, so it must itself refuse internal addresses"""
    web_timeout_seconds: float = Field(default=20.0, gt=0)
    """How long a web server may send nothing"""
    web_download_seconds: float = Field(default=300.0, gt=0)
    """How long one download may take"""
    web_max_delay_seconds: float = Field(default=10.0, ge=0)
    """The longest pause that Crawl-delay or Retry-After may impose"""
    web_max_page_bytes: int = Field(
        default=10 * MEBIBYTE, gt=0, description="Larger pages are stored, but not searched for links"
    )


class S3SourceSettings(Environment):
    """S3 sources. `s3_bucket` is Attractor's own bucket, which no source may name."""

    source_s3_connections: Annotated[dict[str, S3Connection], NoDecode, BeforeValidator(_decoded)] = {}
    """Object stores that sources may name: a JSON object of connections by name, each with its `workspaces`"""
    s3_endpoint: str = ""
    s3_bucket: str = "attractor"


class FolderSettings(Environment):
    """Folder and git sources."""

    source_roots: Annotated[tuple[SourceRoot, ...], NoDecode, BeforeValidator(_roots)] = ()
    """Where folder and git sources may be: paths separated as in PATH, or JSON that names workspaces"""
    source_max_files: int = Field(default=100_000, gt=0, description="Files that one source may contain")
    source_slice_seconds: float = Field(
        default=60.0, gt=0, description="Time after which a synchronisation yields to those of other workspaces"
    )


class ScheduleSettings(Environment):
    """The schedule of automatic synchronisation. Read by the API process."""

    schedule_sources: bool = True
    """Whether this process queues due synchronisations and watches folders; only one process at a time queues"""
    schedule_seconds: float = Field(default=5.0, gt=0)
    """Interval between checks for due synchronisations"""
    watch_polling: bool = False
    """Poll folders instead of watching them; for network mounts, which report no changes"""
    watch_poll_seconds: float = Field(default=5.0, gt=0)
    """Interval between two polls of a folder"""
    watch_quiet_seconds: float = Field(default=1.0, gt=0)
    """How long a folder must be unchanged before it is synchronised"""
    watch_longest_seconds: float = Field(default=30.0, gt=0)
    """Time after which a folder is synchronised even if it keeps changing"""


class SourceSettings(FolderSettings, WebSettings, S3SourceSettings):
    """Sources of every kind."""

    def reach(self, workspace_id: UUID, is_administrators: bool) -> Reach:
        """Returns what the sources of a workspace may use; `is_administrators`: it is the administrator's workspace."""
        return Reach(
            self,
            tuple(one.path for one in self.source_roots if one.is_open_to(workspace_id, is_administrators)),
            {
                name: connection
                for name, connection in self.source_s3_connections.items()
                if connection.is_open_to(workspace_id, is_administrators)
            },
        )


@dataclass(frozen=True)
class Reach:
    """What the sources of one workspace may use: the folders below `roots`, and S3 connections by name."""

    settings: SourceSettings
    roots: tuple[Path, ...]
    connections: Mapping[str, S3Connection]
