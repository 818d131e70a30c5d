"""The table of Attractor's processes, and the environment of each."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv.parser import parse_stream

from embedded.credentials import Credentials
from embedded.engines import Engines
from embedded.errors import EmbeddedError
from embedded.ports import LOOPBACK
from embedded.processes.child import Command

GATEWAY, ORCHESTRATOR = "gateway", "orchestrator"
# The variables that each process reads, written by `make contracts`. A process gets only these and the following.
VARIABLES: Mapping[str, list[str]] = json.loads(Path(__file__).with_name("variables.json").read_text(encoding="utf-8"))
OF_THE_SYSTEM = frozenset(
    {"PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH"}
    | {"FORWARDED_ALLOW_IPS"}  # read by the server's library
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "OMP_NUM_THREADS"}
)
# `.env` is made for Compose: its passwords and addresses do not apply here.
FROM_DOTENV = (
    *("CHAT_", "EMBEDDING_", "RERANK_", "ENTAILMENT_", "SEARCH_", "GRAPH_", "SOURCE_", "WEB_", "WATCH_"),
    *("BACKUP_", "CONTEXT_TOKENIZER", "TOKENIZERS_FOLDER", "BUDGET_", "CHUNK_", "FACTS_BY_MODEL", "PROVIDER_"),
    *("AUDIT_DAYS", "LOG_LEVEL", "MAX_BODY_BYTES", "RATE_LIMIT_PER_MINUTE", "REQUESTS_IN_FLIGHT_", "WAITS_IN_FLIGHT_"),
    "WORKSPACE_MAX_",
    *("PUBLIC_URL", "ALLOWED_HOSTS", "OIDC_", "SESSION_", "SIGN_IN_"),
    *("GATEWAY_PORT", "GATEWAY_HOST", "ATTRACTOR_DATA", "INTERNAL_PORTS_FROM"),
)


@dataclass(frozen=True)
class Process:
    """A row of the table. `service` owns the role and the schema; a process without a `health` path has no port.

    `observed`: serves /metrics on a port of its own. `objects`: uses the object store. `redis`: uses Redis. `sources`:
    reads the folders of sources.
    """

    name: str
    service: str
    args: tuple[str, ...] = ("serve",)
    health: str | None = "/readyz"
    observed: bool = False
    objects: bool = False
    redis: bool = True
    sources: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    stop: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 15.0),)

    @property
    def module(self) -> str:
        return self.service.replace("-", "_")


# In start order; they stop in reverse, so the public entry point opens last and closes first.
PROCESSES = (
    Process("retrieval", "retrieval", objects=True),
    Process("knowledge-graph", "knowledge-graph", objects=True),
    Process("memory", "memory"),
    Process("ingestion", "ingestion", objects=True, sources=True),
    Process(
        "ingestion-worker",
        "ingestion",
        ("worker",),
        health=None,
        observed=True,
        objects=True,
        sources=True,
        env={"MALLOC_ARENA_MAX": "2"},  # more arenas more than double the memory that converting scans takes
        stop=((signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0)),
    ),
    # RUN_DRAIN_SECONDS, plus time to release runs that have not ended by then.
    Process("orchestrator", "orchestrator", objects=True, stop=((signal.SIGTERM, 30.0),)),
    Process(GATEWAY, GATEWAY, observed=True),
)
SERVICES = tuple(dict.fromkeys(process.service for process in PROCESSES))
OBSERVED = tuple(process.name for process in PROCESSES if process.observed)


@dataclass(frozen=True)
class Site:
    """The inputs of every process's environment. `user` holds the user's settings, including those of `.env`.

    `held` are the sockets that keep listening while processes restart.
    """

    data: Path
    user: Mapping[str, str]
    engines: Engines
    credentials: Credentials
    host: str
    ports: Mapping[str, int]
    private_ports: Mapping[str, int]
    held: Mapping[int, socket.socket] = field(default_factory=dict)

    @property
    def admin_key_file(self) -> Path:
        return self.data / "admin.key"

    @property
    def documents(self) -> Path:
        """Returns the default folder for sources of kind `folder`."""
        return self.data / "documents"

    @property
    def source_roots(self) -> str:
        return self.user.get("SOURCE_ROOTS") or str(self.documents)

    def url(self, service: str) -> str:
        host = LOOPBACK if service != GATEWAY or self.host == "0.0.0.0" else self.host  # noqa: S104  only compared
        scheme = "https" if service == GATEWAY and self.user.get("TLS_CERTIFICATE_FILE") else "http"
        return f"{scheme}://{host}:{self.ports[service]}"

    @property
    def private_url(self) -> str:
        """Returns the URL of the gateway's private port, for metrics and other services."""
        return f"http://{LOOPBACK}:{self.private_ports[GATEWAY]}"

    @property
    def targets_file(self) -> Path:
        """Returns the path of the Prometheus target list (`file_sd_configs`)."""
        return self.data / "metrics.json"

    def write_targets(self) -> None:
        """Writes the Prometheus target list, because ports in use are replaced."""
        targets = [
            {
                "targets": [f"{LOOPBACK}:{self.private_ports.get(process.name) or self.ports[process.service]}"],
                "labels": {"service": process.name},
            }
            for process in PROCESSES
        ]
        self.targets_file.write_text(json.dumps(targets, indent=1) + "\n", encoding="utf-8")

    def health_url(self, process: Process) -> str:
        """Returns the URL of a process's readiness check, which the gateway serves on its private port."""
        own = self.url(process.service) if process.name != GATEWAY else self.private_url
        return f"{own}{process.health}"

    def command(self, name: str) -> tuple[list[str], dict[str, str]]:
        """Returns the command line of a process's service, and its environment."""
        process = next(one for one in PROCESSES if one.name == name)
        return [sys.executable, "-m", process.module], self.environment(process)

    def environment(self, process: Process) -> dict[str, str]:
        """Returns a process's environment: the installation's values override the user's settings."""
        decided = {f"{name.upper().replace('-', '_')}_URL": self.url(name) for name in SERVICES}
        decided["GATEWAY_URL"] = self.private_url
        decided["PRIVATE_PORT"] = ""
        if process.name == GATEWAY:
            decided |= {"ADMIN_KEY_FILE": str(self.admin_key_file)}
        if process.observed:
            port = self.private_ports[process.name]
            decided |= {"PRIVATE_HOST": LOOPBACK, "PRIVATE_PORT": str(port), **self._held("PRIVATE_PORT_FD", port)}
        if process.service == ORCHESTRATOR:
            decided |= {"SETTINGS_KEY": self.user.get("SETTINGS_KEY") or self.credentials.named("settings-key", 32)}
        if process.redis:
            decided |= {"REDIS_URL": self.engines.redis_url(process.name)}
        if process.sources:
            decided |= {"SOURCE_ROOTS": self.source_roots}
        if process.objects:
            decided |= self._object_store()
        if process.health:
            host = self.host if process.name == GATEWAY else LOOPBACK
            decided |= {"HOST": host, "PORT": str(self.ports[process.service])}
            decided |= self._held("PORT_FD", self.ports[process.service])
            decided |= {
                "TOKEN_PRIVATE_KEY": self.credentials.token_key(process.service),
                "TOKEN_PUBLIC_KEYS": self.credentials.public_keys(SERVICES),
            }
        own = {name: self.user.get(name, value) for name, value in process.env.items()}
        user = {name: value for name, value in self.user.items() if name in VARIABLES[process.name]}
        return {**user, **self._with_database(process), **own, **decided}

    def _with_database(self, process: Process) -> dict[str, str]:
        """Returns the variables that any program needs, and the database URL of the process's role."""
        system = {
            name: value for name, value in self.user.items() if name.upper() in OF_THE_SYSTEM or name.startswith("LC_")
        }
        role = f"attractor_{process.module}"
        return {**system, "DATABASE_URL": self.engines.database_url(role, self.credentials.named(role))}

    def _held(self, variable: str, port: int) -> dict[str, str]:
        return {variable: str(self.held[port].fileno())} if port in self.held else {}

    def _descriptors(self, process: Process) -> list[int]:
        """Returns the open sockets that the process serves."""
        ports = [self.ports[process.service]] if process.health else []
        ports += [self.private_ports[process.name]] if process.observed else []
        return [self.held[port].fileno() for port in ports if port in self.held]

    def _object_store(self) -> dict[str, str]:
        store = self.engines.object_store
        return {
            "S3_ENDPOINT": store.endpoint,
            "S3_ACCESS_KEY": store.access_key,
            "S3_SECRET_KEY": store.secret_key,
            "S3_BUCKET": store.bucket,
            "S3_SECURE": "false",
        }

    def serve(self, process: Process) -> Command:
        return Command(
            name=process.name,
            argv=[sys.executable, "-m", process.module, *process.args],
            log=self.data / "logs" / f"{process.name}.log",
            env=self.environment(process),
            cwd=self.data,
            stop=process.stop,
            descriptors=self._descriptors(process),
            # Services survive a kill at any moment, and without the engines there is nothing to shut down cleanly.
            on_parent_death=signal.SIGKILL,
        )

    def database_urls(self, service: str) -> tuple[str, str]:
        """Returns the database's URLs of the administrator, whom only migrations need, and of the service."""
        process = next(one for one in PROCESSES if one.service == service)
        return self.engines.admin_database_url, self._with_database(process)["DATABASE_URL"]


def user_settings(dotenv: Path) -> dict[str, str]:
    """Returns this process's environment, which overrides the lines of `.env` that apply without Docker.

    Raises EmbeddedError if the file cannot be read.
    """
    try:
        lines = list(parse_stream(io.StringIO(dotenv.read_text(encoding="utf-8")))) if dotenv.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise EmbeddedError(f"{dotenv} cannot be read: {why}") from error
    if broken := next((line.original for line in lines if line.error), None):
        raise EmbeddedError(f"{dotenv}, line {broken.line}, is not NAME=value: correct or delete it")
    shared = {line.key: line.value for line in lines if line.key is not None and line.value is not None}
    return {name: value for name, value in shared.items() if name.startswith(FROM_DOTENV)} | os.environ
