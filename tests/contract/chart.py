"""The chart's table and Compose's containers in one form, so that tests can compare them."""

from __future__ import annotations

import re
from typing import Any

import yaml
from api_calls import REPOSITORY

CHART = REPOSITORY / "charts" / "attractor"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))["services"]
SERVICES: dict[str, dict[str, Any]] = VALUES["services"]
STORES: dict[str, dict[str, Any]] = VALUES["trial"]["stores"]
OURS: dict[str, dict[str, Any]] = {**SERVICES, **VALUES["beside"]}  # containers of our own images
# What the chart adds to Compose's environment: when more workers are wanted, and longer to end for one taken away.
ADDED = {"ingestion-worker": {"WORKER_SHUTDOWN_SECONDS"}, "ingestion": {"WORKER_TARGET_SECONDS"}}
_DEFAULT = re.compile(r"\$\{[A-Z0-9_]+(?::-([^}]*))?(?::\?[^}]*)?\}")


def default(text: str) -> str:
    """Returns a value of compose.yaml as it is with an empty .env."""
    return _DEFAULT.sub(lambda found: found[1] or "", str(text))


def compose_environment(name: str) -> dict[str, str]:
    return {variable: default(value) for variable, value in COMPOSE[name].get("environment", {}).items()}


def compose_secrets(name: str) -> dict[str, str]:
    """Returns the source of each secret file."""
    listed = COMPOSE[name].get("secrets", [])
    return dict((one, one) if isinstance(one, str) else (one["target"], one["source"]) for one in listed)


def compose_folders(name: str) -> dict[str, bool]:
    """Returns the place of each volume, and whether it is read only."""
    places = [default(volume).split(":", 1)[1] for volume in COMPOSE[name].get("volumes", [])]
    return {place.removesuffix(":ro"): place.endswith(":ro") for place in places}


def compose_temporary(name: str) -> dict[str, str]:
    return {place: f"{size[:-1]}Mi" for place, size in (one.split(":size=") for one in COMPOSE[name].get("tmpfs", []))}


def compose_image(name: str) -> str:
    """Returns the image; without its tag if it is one of ours."""
    return default(COMPOSE[name]["image"]).removesuffix(":local").removesuffix(":")


def quantity(size: str) -> str:
    """Returns Compose's `512m` as Kubernetes' `512Mi`."""
    return default(size).replace("m", "Mi").replace("g", "Gi")


def cores(quota: int | str) -> str:
    """Returns Compose's microseconds in each tenth of a second as Kubernetes' cores."""
    return str(int(default(str(quota))) // 100_000)


def environment(spec: dict[str, Any], trial: bool = True) -> dict[str, str]:
    """Returns a container's environment with the chart's defaults; empty values are not set in a pod."""
    given = {**VALUES["settings"], **(VALUES["trial"]["settings"] if trial else {})}
    return {**spec.get("environment", {}), **{name: given[name] for name in spec.get("settings", [])}}


def folders(spec: dict[str, Any]) -> dict[str, bool]:
    return {one["path"]: one.get("readOnly", False) for one in spec["volumes"] if "memory" not in one}


def temporary(spec: dict[str, Any]) -> dict[str, str]:
    return {one["path"]: one["memory"] for one in spec["volumes"] if "memory" in one}
