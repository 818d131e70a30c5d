"""The orchestrator's fixtures and fake neighbours, for tests outside its folder."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

PLACE = Path(__file__).resolve().parents[1] / "services/orchestrator/tests/conftest.py"


def orchestrator_fixtures() -> ModuleType:
    """Returns the module with the fixtures; a test module imports those that it needs."""
    spec = spec_from_file_location("orchestrator_fixtures", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
