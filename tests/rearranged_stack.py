"""The embedded stack with databases elsewhere: DATABASES maps a service, or `*`, to a `DatabasePlace` as JSON."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from embedded.__main__ import main
from embedded.processes.child import Command
from embedded.topology import Process, Site


@dataclass(frozen=True)
class DatabasePlace:
    """Where a service finds its database: hosts with ports, the options of the URL, and the administrator's URL.

    `direct` is set if `hosts` is a pooler.
    """

    admin: str
    hosts: str
    query: str = ""
    direct: str | None = None


def variable(places: dict[str, DatabasePlace]) -> dict[str, str]:
    """Returns the environment variable for `main`."""
    return {"DATABASES": json.dumps({name: asdict(place) for name, place in places.items()})}


def _rearrange(places: dict[str, DatabasePlace]) -> None:
    with_database, migrate = Site._with_database, Site.migrate

    def place_of(process: Process) -> DatabasePlace:
        return places.get(process.module) or places["*"]

    def elsewhere(site: Site, process: Process) -> dict[str, str]:
        environment, place = with_database(site, process), place_of(process)
        login = urlsplit(environment["DATABASE_URL"]).netloc.rpartition("@")[0]
        environment["DATABASE_URL"] = f"postgresql://{login}@{place.hosts}/attractor{place.query}"
        if place.direct:
            environment["DATABASE_DIRECT_URL"] = f"postgresql://{login}@{place.direct}/attractor"
        return environment

    def migrated(site: Site, service: str) -> Command:
        command = migrate(site, service)
        admin = (places.get(service.replace("-", "_")) or places["*"]).admin
        return replace(command, env={**command.env, "ADMIN_DATABASE_URL": admin})

    changed: Any = Site
    changed._with_database, changed.migrate = elsewhere, migrated


if __name__ == "__main__":
    _rearrange({name: DatabasePlace(**place) for name, place in json.loads(os.environ["DATABASES"]).items()})
    sys.exit(main())
