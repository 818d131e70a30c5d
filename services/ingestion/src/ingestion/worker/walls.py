"""Determines once which walls this machine has for conversions, and logs them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from service_kit.sandbox import SandboxUnavailable, Wall

log = logging.getLogger(__name__)


class WallReport:
    """The walls in `found`, which is empty until the fork server has determined them."""

    def __init__(self, walls: Callable[[], Sequence[Wall]]) -> None:
        """Calls `walls`, which may take seconds, in a thread that ends when it returns."""
        self.found: Sequence[Wall] = ()
        self._walls = walls
        threading.Thread(target=self._find, name="walls", daemon=True).start()

    def _find(self) -> None:
        try:
            self.found = self._walls()
        except SandboxUnavailable as error:
            log.error("conversions cannot start", extra={"reason": str(error)})
            return
        missing = {wall.name: wall.detail for wall in self.found if not wall.active}
        active = [wall.name for wall in self.found if wall.active]
        log.log(
            logging.WARNING if missing else logging.INFO,
            "walls around conversions",
            extra={"active": active, "missing": missing},
        )
