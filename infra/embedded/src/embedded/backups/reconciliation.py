"""Reconciles the stores after a restore: repairs what it can, and lists what has to be uploaded again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from embedded.backups.state import copied_at, end_restore
from embedded.data_folder import DataFolder
from embedded.progress import StartProgress

UPLOAD_AGAIN = "to-upload-again.txt"
_SHOWN = 20
_DIFFERS = 1  # exit code of reconcile if something remains that it cannot repair


@dataclass(frozen=True)
class Reconciliation:
    """Reconciles the stores once after each restore, when the services are ready; after a failure, at the next start.

    `supervise` keeps the processes alive until the given condition is true; `command` returns the command line of a
    service and its environment.
    """

    folder: DataFolder
    progress: StartProgress
    has_neo4j: bool
    supervise: Callable[[Callable[[], bool]], None]
    command: Callable[[str], tuple[list[str], Mapping[str, str]]]

    def show(self) -> None:
        """Does nothing unless restored data is still to be reconciled. A failure never ends the run."""
        since = copied_at(self.folder.path)
        if since is None:
            return
        with self.progress.step("comparing the stores"):
            rebuilt = not self.has_neo4j or self._call("knowledge-graph", ["rebuild"], {}) == 0
            # Data written since the services started is not touched.
            settled = {"SETTLED_AFTER_SECONDS": str((datetime.now(UTC) - since).total_seconds())}
            code = self._call("ingestion", ["reconcile", "--repair", "--json"], settled)
        if not rebuilt or code not in {0, _DIFFERS}:
            self.progress.warn(
                f"the stores could not be compared, the next start tries again (log: {self.folder.logs})"
            )
            return
        self._tell()
        end_restore(self.folder.path)

    def _call(self, name: str, arguments: list[str], settings: Mapping[str, str]) -> int:
        """Runs a command of a service alongside it; returns the exit code."""
        argv, environment = self.command(name)
        logs = self.folder.logs
        with (logs / f"{arguments[0]}.out").open("wb") as output, (logs / f"{arguments[0]}.log").open("wb") as log:
            command = subprocess.Popen(
                [*argv, *arguments],
                env={**environment, **settings},
                stdout=output,
                stderr=log,
            )
        with command:
            try:
                self.supervise(lambda: command.poll() is not None)
            except BaseException:
                command.kill()
                raise
        return int(command.returncode)

    def _tell(self) -> None:
        found = [json.loads(line) for line in (self.folder.logs / "reconcile.out").read_text("utf-8").splitlines()]
        missing = [one for one in found if one["kind"] == "original-missing"]
        lost = [f"{one['workspace_id']}\t{one['document_id']}\t{one['detail']}" for one in missing]
        mended = f"the stores differed; repair of {len(found) - len(lost)} begun"
        self.progress.line(mended if found else "the stores agree")
        if not lost:
            return
        file = self.folder.path / UPLOAD_AGAIN
        file.write_text("".join(f"{line}\n" for line in lost), encoding="utf-8")
        self.progress.warn(f"{len(lost)} documents have to be uploaded again, or their source synchronised ({file}):")
        for line in lost[:_SHOWN]:
            self.progress.warn(f"  {line}")
