"""The services can read the keys that `make env` generates."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from deployment_keys import SERVICES

from service_kit.settings import TokenSettings
from service_kit.token_keys import SigningKey

SCRIPT = Path(__file__).parents[2] / "infra" / "docker" / "token_keys.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("token_keys_script", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("private", ["00" * 32, "ff" * 32, *(f"{number:064x}" for number in range(1, 20))])
def test_the_derived_public_key_equals_that_of_the_library(script: ModuleType, private: str):
    assert script.public_key(private) == SigningKey.parse(private).public_text


def test_every_service_has_a_key_pair(script: ModuleType):
    assert sorted(script.SERVICES) == sorted(SERVICES)
    private = {service: script.new_key() for service in script.SERVICES}
    public = script.public_keys(private)
    for service in SERVICES:
        TokenSettings(token_private_key=private[service], token_public_keys=public)
    example = (SCRIPT.parents[2] / ".env.example").read_text(encoding="utf-8").splitlines()
    assert {f"{script.setting(service)}=<generate>" for service in SERVICES} <= set(example)
