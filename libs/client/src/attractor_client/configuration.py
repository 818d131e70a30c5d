"""The server's URL and API key for the command: from flags, else the environment, else a file, else the default."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

DEFAULT_URL = "http://127.0.0.1:8080"


class BadConfiguration(Exception):
    """The configuration cannot be read or used; the message says which and why."""


@dataclass(frozen=True)
class Configuration:
    url: str
    api_key: str | None


def configuration_file() -> Path:
    """Returns the path of the configuration file; on Linux ~/.config/attractor/config.toml."""
    return user_config_path("attractor") / "config.toml"


def configuration(
    url: str | None, api_key: str | None, *, environment: Mapping[str, str] | None = None, file: Path | None = None
) -> Configuration:
    """Returns the configuration; `url` and `api_key` are the flags. Raises BadConfiguration if the file is invalid."""
    variables = os.environ if environment is None else environment
    given_url, given_key = url or variables.get("ATTRACTOR_URL"), api_key or variables.get("ATTRACTOR_API_KEY")
    stored = {} if given_url and given_key else _read(file or configuration_file())
    found_key = (given_key or stored.get("api_key") or "").strip()
    return Configuration((given_url or stored.get("url") or DEFAULT_URL).strip(), found_key or None)


def save(url: str, api_key: str, file: Path | None = None) -> Path:
    """Replaces the file, readable only by its owner; returns its path. Raises BadConfiguration if that fails."""
    to = file or configuration_file()
    # A JSON string is a TOML basic string.
    text = f"url = {json.dumps(url, ensure_ascii=False)}\napi_key = {json.dumps(api_key, ensure_ascii=False)}\n"
    try:
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(prefix="config-", dir=to.parent)  # made with mode 0600
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(part, to)
    except OSError as error:
        raise BadConfiguration(f"{to} cannot be written: {error.strerror}") from error
    return to


def _read(file: Path) -> dict[str, str]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadConfiguration(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadConfiguration(f"{file} is not valid TOML: {error}") from error
    for name in ("url", "api_key"):
        if not isinstance(values.get(name, ""), str):
            raise BadConfiguration(f"{file}: {name} must be a quoted string")
    return values
