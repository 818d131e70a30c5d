"""Chooses the ports of an installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embedded.engines import EnginePorts
from embedded.engines.object_store import ObjectStorePorts
from embedded.errors import EmbeddedError, PortInUse
from embedded.ports import GRPC_OFFSET, is_free, prefer

GATEWAY_PORT = 8080
FIRST_INTERNAL_PORT = 18081
_HIGHEST = 65_535


@dataclass(frozen=True)
class Allocation:
    """The ports of the engines, the gateway and the services; `private` are the separate ports for metrics."""

    engines: EnginePorts
    gateway: int
    services: Mapping[str, int]
    private: Mapping[str, int]


def allocate(
    settings: Mapping[str, str], host: str, services: Sequence[str], observed: Sequence[str] = ()
) -> Allocation:
    """Chooses the gateway's configured port or 8080, and internal ports from 18081 on, replacing ports in use.

    Each process in `observed` gets one for its metrics.

    Raises PortInUse for the gateway's port, and for an internal port if INTERNAL_PORTS_FROM is set.
    """
    public = _number(settings, "GATEWAY_PORT", GATEWAY_PORT)
    _require(public, host, "GATEWAY_PORT")
    chosen_by_user = bool(settings.get("INTERNAL_PORTS_FROM"))
    first = _number(settings, "INTERNAL_PORTS_FROM", FIRST_INTERNAL_PORT)
    taken = [public]

    def take(offset: int) -> int:
        port = first + offset
        if chosen_by_user:
            _require(port, "127.0.0.1", "INTERNAL_PORTS_FROM")
        else:
            port = prefer(port, taken)
        taken.append(port)
        return port

    internal = {name: take(offset) for offset, name in enumerate(services)}
    others = [take(len(internal) + number) for number in range(7)]
    engines = EnginePorts(others[0], others[1], ObjectStorePorts(*others[2:7]))
    first_private = len(internal) + len(others)
    private = {name: take(first_private + number) for number, name in enumerate(observed)}
    return Allocation(engines, public, internal, private)


def _number(settings: Mapping[str, str], name: str, default: int) -> int:
    text = settings.get(name) or str(default)
    highest = _HIGHEST if name == "GATEWAY_PORT" else _HIGHEST - GRPC_OFFSET - 20
    if not text.isdecimal() or not 0 < int(text) <= highest:
        raise EmbeddedError(f"{name} is {text!r}: set it to a number from 1 to {highest}")
    return int(text)


def _require(port: int, host: str, setting: str) -> None:
    try:
        free = is_free(port, host)
    except PermissionError:
        raise EmbeddedError(f"this user may not open port {port}: set {setting} to one above 1024") from None
    except OSError as error:
        raise EmbeddedError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    if not free:
        raise PortInUse(port, setting)
