"""What all tests of whole stacks have in common."""

from __future__ import annotations

import shutil

from stack import EmbeddedStack


def pytest_sessionfinish() -> None:
    """Deletes the databases outside of the temporary folders, which pytest deletes by itself."""
    for database in EmbeddedStack.databases:
        shutil.rmtree(database, ignore_errors=True)
