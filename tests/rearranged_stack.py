"""The embedded stack with databases elsewhere and several processes of a service, as EmbeddedStack's program.

DATABASES maps services, or `*`, to `DatabasePlace`s as JSON. REPLICAS=2 starts each service twice, except the gateway:
at one port of two addresses, which are those of the name that its callers have. Nothing listens there while a process
is down. The second process is called `retrieval-2`.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from embedded import launcher, topology
from embedded.__main__ import main
from embedded.launcher import Launcher
from embedded.processes.child import Command
from embedded.topology import GATEWAY, PROCESSES, SERVICES, Process, Site
from service_kit.replicas import ReplicaTransport
from service_kit.web_address import Address
from service_kit.web_connect import resolve

NAME, HOSTS = "services.test", ("127.0.0.1", "127.0.0.2")
SECOND = "-2"
SERVE = "serve"


@dataclass(frozen=True)
class DatabasePlace:
    """Where a service finds its database: host and port, and the administrator's URL.

    `direct` is the server's host and port if `host` is a pooler's.
    """

    admin: str
    host: str
    direct: str | None = None


def databases(places: Mapping[str, DatabasePlace]) -> dict[str, str]:
    """Returns the environment variable for `main`."""
    return {"DATABASES": json.dumps({name: asdict(place) for name, place in places.items()})}


def _move_databases(places: Mapping[str, DatabasePlace]) -> None:
    with_database, database_urls = Site._with_database, Site.database_urls

    def elsewhere(site: Site, process: Process) -> dict[str, str]:
        environment, place = with_database(site, process), places.get(process.service) or places["*"]
        login = urlsplit(environment["DATABASE_URL"]).netloc.rpartition("@")[0]
        environment["DATABASE_URL"] = f"postgresql://{login}@{place.host}/attractor"
        if place.direct:
            environment["DATABASE_DIRECT_URL"] = f"postgresql://{login}@{place.direct}/attractor"
        return environment

    def urls(site: Site, service: str) -> tuple[str, str]:
        return (places.get(service) or places["*"]).admin, database_urls(site, service)[1]

    changed: Any = Site
    changed._with_database, changed.database_urls = elsewhere, urls


def _replicate() -> None:
    of_site, environment, serve, health_url = Launcher._site, Site.environment, Site.serve, Site.health_url
    seconds = [replace(one, name=f"{one.name}{SECOND}", observed=False) for one in PROCESSES if one.name != GATEWAY]

    def site(one: Launcher, *arguments: Any) -> Site:
        """Keeps no port of a service open while its process is down."""
        made = of_site(one, *arguments)
        held: Any = made.held
        for service in SERVICES:
            if service != GATEWAY:
                held.pop(made.ports[service]).close()
        return made

    def replicated(site: Site, process: Process) -> dict[str, str]:
        first = replace(process, name=process.name.removesuffix(SECOND))
        names = {
            f"{name.upper().replace('-', '_')}_URL": f"http://{NAME}:{site.ports[name]}"
            for name in SERVICES
            if name != GATEWAY
        }
        host = {"HOST": HOSTS[1]} if first.name != process.name else {}
        return {**environment(site, first), **names, **host}

    def served(site: Site, process: Process) -> Command:
        command = serve(site, process)
        return replace(command, argv=[sys.executable, __file__, SERVE, process.module, *process.args])

    def health(site: Site, process: Process) -> str:
        url = health_url(site, process)
        return url.replace(HOSTS[0], HOSTS[1]) if process.name.endswith(SECOND) else url

    changed: Any = Site
    changed.environment, changed.serve, changed.health_url = replicated, served, health
    changed = Launcher
    changed._site = site
    *firsts, gateway = PROCESSES
    for module in (topology, launcher):
        module.PROCESSES = (*firsts, *seconds, gateway)  # type: ignore[attr-defined]


def _serve(module: str, *arguments: str) -> None:
    """Runs a service whose callers' name has both addresses, as a name server would say."""
    made: Any = ReplicaTransport.__init__

    async def addresses(host: str, port: int) -> Sequence[Address]:
        return [ip_address(one) for one in HOSTS] if host == NAME else await resolve(host, port)

    changed: Any = ReplicaTransport
    changed.__init__ = lambda transport, inner: made(transport, inner, addresses)
    sys.path.pop(0)  # this folder, which a module run by its name would not have
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1] == SERVE:
        _serve(*sys.argv[2:])
    else:
        if "DATABASES" in os.environ:
            _move_databases({name: DatabasePlace(**one) for name, one in json.loads(os.environ["DATABASES"]).items()})
        if os.environ.get("REPLICAS"):
            _replicate()
        sys.exit(main())
