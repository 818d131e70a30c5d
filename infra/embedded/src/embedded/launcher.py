"""Starts and stops the whole stack."""

from __future__ import annotations

import contextlib
import functools
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import httpx2
import psycopg

from backup.server import ROLE
from backup.shelf.log import RECEIVER, log_folder, receiving
from embedded.allocation import Allocation, allocate
from embedded.backups.reconciliation import Reconciliation
from embedded.backups.state import copied_at
from embedded.backups.tools import tools
from embedded.data_folder import DataFolder
from embedded.demonstration import Demonstration
from embedded.engines import Engines
from embedded.errors import EmbeddedError, MigrationFailed, NotReady
from embedded.ports import listening
from embedded.processes.child import Child, Command
from embedded.processes.supervisor import Patience, Supervisor, ignore_interruptions, woken_by_children
from embedded.progress import StartProgress
from embedded.topology import GATEWAY, OBSERVED, PROCESSES, SERVICES, Process, Site
from service_kit.migrate import MigrationBlocked, MigrationChanged, migrate

READY_SECONDS = 180.0
_POLL_SECONDS = 0.05


class Launcher:
    """One run of the stack on one data folder. `root` is the repository."""

    def __init__(self, root: Path, folder: DataFolder, settings: Mapping[str, str], progress: StartProgress) -> None:
        self._root, self._folder, self._settings, self._progress = root, folder, settings, progress
        self._host = settings.get("GATEWAY_HOST") or "127.0.0.1"

    def run(self, demo: bool) -> None:
        """Runs the stack until Ctrl-C or SIGTERM, and returns when everything has ended.

        Raises EmbeddedError, whose text is one line for the user; everything has ended then, too.
        """
        self._folder.create()
        url = f"http://{self._host}:{self._settings.get('GATEWAY_PORT') or 8080}"
        with self._folder.lock(url), woken_by_children() as wakeup, contextlib.ExitStack() as kept:
            copied_at(self._folder.path)  # raises if a restore did not finish
            password = self._folder.credentials.named(ROLE)  # must exist before a concurrent backup looks for it
            for name in self._folder.end_leftovers():
                self._progress.line(f"ended {name}, left running by an earlier start")
            services = [name for name in SERVICES if name != GATEWAY]
            allocation = allocate(self._settings, self._host, services, OBSERVED)
            engines = Engines(self._folder, allocation.engines)
            site = self._site(engines, allocation, kept)
            site.documents.mkdir(mode=0o700, exist_ok=True)
            site.write_targets()
            allocation.engines.note(self._folder)
            supervisor = Supervisor(wakeup, self._progress.warn, lambda: self._record(supervisor), Patience())
            with self._stopping(supervisor, engines, site), contextlib.suppress(KeyboardInterrupt):
                self._start(supervisor, engines, site)
                Reconciliation(
                    self._folder,
                    self._progress,
                    has_neo4j=bool(site.user.get("NEO4J_URL")),
                    supervise=supervisor.run,
                    command=site.command,
                ).show()
                Demonstration(
                    root=self._root,
                    data=site.data,
                    user=site.user,
                    url=site.url(GATEWAY),
                    key_file=site.admin_key_file,
                    progress=self._progress,
                    supervisor=supervisor,
                ).show(demo)
                self._keep(supervisor, engines.database_url(ROLE, password))

    def _site(self, engines: Engines, allocation: Allocation, kept: contextlib.ExitStack) -> Site:
        ports = [*allocation.services.values(), *allocation.private.values()]
        held = {port: kept.enter_context(listening(port)) for port in ports}
        held[allocation.gateway] = kept.enter_context(listening(allocation.gateway, self._host))
        return Site(
            data=self._folder.path,
            user=self._settings,
            engines=engines,
            credentials=self._folder.credentials,
            host=self._host,
            ports={**allocation.services, GATEWAY: allocation.gateway},
            private_ports=allocation.private,
            held=held,
        )

    def _record(self, supervisor: Supervisor) -> None:
        self._folder.record(child for child in supervisor.children if child.exit_code() is None)

    def _start(self, supervisor: Supervisor, engines: Engines, site: Site) -> None:
        with self._progress.step("starting PostgreSQL, Valkey and SeaweedFS, migrating the databases"):
            for engine in engines.all:
                supervisor.start(engine.launch)
            engines.postgres.wait_ready()
            migrate_all(site)  # while the others start
            engines.wait_ready()
        with self._progress.step(f"starting {', '.join(process.name for process in PROCESSES)}"):
            for process in PROCESSES:
                supervisor.start(functools.partial(Child, site.serve(process)))
            self._wait_ready(supervisor, site)

    def _keep(self, supervisor: Supervisor, database_url: str) -> None:
        """Supervises the processes, and receives the database's log for backups, from the first backup on."""
        while True:
            folder = log_folder(self._folder.path)
            if folder:
                command = Command(
                    name=RECEIVER,
                    argv=receiving(tools(), database_url, folder),
                    log=self._folder.logs / f"{RECEIVER}.log",
                    env=tools().connecting(database_url),
                    stop=((signal.SIGINT, 10.0),),
                )
                self._receive_log(supervisor, command)
            supervisor.run(done=functools.partial(self._keeps_other_log, folder))

    def _keeps_other_log(self, folder: Path | None) -> bool:
        return log_folder(self._folder.path) != folder

    @staticmethod
    def _receive_log(supervisor: Supervisor, command: Command) -> None:
        for child in supervisor.children:
            if child.name == RECEIVER:
                child.stop()
        supervisor.start(functools.partial(Child, command), needed=False)

    def _wait_ready(self, supervisor: Supervisor, site: Site) -> None:
        waiting = {process.name: "no answer yet" for process in PROCESSES if process.health}
        deadline = time.monotonic() + READY_SECONDS
        with httpx2.Client(timeout=2.0, trust_env=False) as client:
            while waiting:
                supervisor.check_alive()
                for process in PROCESSES:
                    if process.name in waiting and (why := _unready(client, site, process)):
                        waiting[process.name] = why
                    else:
                        waiting.pop(process.name, None)
                if waiting and time.monotonic() > deadline:
                    name, why = next(iter(waiting.items()))
                    raise NotReady(name, READY_SECONDS, why, self._folder.logs / f"{name}.log")
                time.sleep(_POLL_SECONDS if waiting else 0)

    @contextlib.contextmanager
    def _stopping(self, supervisor: Supervisor, engines: Engines, site: Site) -> Iterator[None]:
        try:
            yield
        finally:
            ignore_interruptions()
            by_name = {child.name: child for child in supervisor.children}
            services = [by_name[process.name] for process in PROCESSES if process.name in by_name]
            entry = [child for child in services if child.name == GATEWAY]
            self._stop(entry)
            site.held[site.ports[GATEWAY]].close()
            self._stop([child for child in reversed(services) if child not in entry])
            self._stop([child for child in by_name.values() if child not in services])
            engines.stop()
            self._folder.record(())
            self._progress.line("stopped")

    def _stop(self, children: Sequence[Child]) -> None:
        """Stops the children of one step concurrently."""
        if children:
            self._progress.line(f"stopping {', '.join(child.name for child in children)}")
        for child in children:
            child.ask_to_stop()
        for child in children:
            child.stop()


def migrate_all(site: Site) -> None:
    """Migrates in this process: to start one for each service takes longer than to find that nothing is new.

    Raises MigrationFailed.
    """
    for service in SERVICES:
        package = service.replace("-", "_")
        try:
            migrate(*site.database_urls(service), package, package)
        except (MigrationBlocked, MigrationChanged, psycopg.Error) as error:
            raise MigrationFailed(service, error) from error


def _unready(client: httpx2.Client, site: Site, process: Process) -> str | None:
    try:
        answer = client.get(site.health_url(process))
    except httpx2.TransportError as error:
        return str(error) or type(error).__name__
    return None if answer.is_success else f"{answer.status_code} {' '.join(answer.text.split())[:200]}"


def stop(folder: DataFolder, progress: StartProgress, seconds: float = 90.0) -> bool:
    """Stops the run that holds the folder, from another terminal; returns False if there is none.

    Raises EmbeddedError if it does not end within `seconds`.
    """
    pid = folder.holder().get("pid")
    if not pid:
        return False
    with progress.step(f"stopping Attractor (process {pid})"):
        folder.end_holder(pid, seconds)
    if folder.holder():
        raise EmbeddedError(f"process {pid} did not stop within {seconds:.0f} s: end it with: kill -9 {pid}")
    return True
