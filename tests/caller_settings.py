"""What the caller's shell and .env set for an installation of their own, which is not for the stacks of tests."""

from __future__ import annotations

import os
from pathlib import Path

from embedded.topology import FROM_DOTENV, VARIABLES, user_settings

OF_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}
DOTENV = Path(__file__).parents[1] / ".env"


def hide(dotenv: Path = DOTENV) -> None:
    """Unsets all that a process of Attractor would read, for this process and those that it starts."""
    read = OF_PROXIES.union(*VARIABLES.values())
    for name in user_settings(dotenv):
        if name.upper() in read or name.startswith(FROM_DOTENV):
            os.environ[name] = ""  # an empty one counts as unset, in .env too
