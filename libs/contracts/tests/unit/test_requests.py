"""Requests reject text that stores cannot hold, control characters, and values of the wrong type."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import ValidationError

import contracts
from contracts.base import Request
from contracts.orchestrator import MessageCreate
from contracts.sources import SourceCreate

# These are compared with a password that was set earlier, whatever characters it has.
COMPARED = {"SignIn.password", "PasswordChange.old_password"}


def _models() -> list[type[Request]]:
    for info in pkgutil.iter_modules(contracts.__path__):
        importlib.import_module(f"contracts.{info.name}")
    found, left = [], [Request]
    while left:
        found += (below := left.pop().__subclasses__())
        left += below
    return sorted(set(found), key=lambda model: model.__name__)


def _texts() -> list[Any]:
    """Returns (model, field, a value with a text that is not plain) for each field that takes texts."""
    cases = []
    for model in _models():
        schema = model.model_json_schema()
        for name, field in schema.get("properties", {}).items():
            if f"{model.__name__}.{name}" in COMPARED:
                continue
            forms = [field, *field.get("anyOf", [])]
            if any(form.get("type") == "string" for form in forms):
                cases.append(pytest.param(model, name, "a{}b", id=f"{model.__name__}.{name}"))
            elif any(form.get("items", {}).get("type") == "string" for form in forms):
                cases.append(pytest.param(model, name, ["a{}b"], id=f"{model.__name__}.{name}"))
    return cases


@pytest.mark.parametrize(("model", "name", "value"), _texts())
@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f"])
def test_a_text_with_control_characters_is_refused(
    model: type[Request], name: str, value: str | list[str], character: str
) -> None:
    text = value.format(character) if isinstance(value, str) else [one.format(character) for one in value]
    with pytest.raises(ValidationError) as refused:
        model.model_validate({name: text})
    assert any(error["loc"][0] == name for error in refused.value.errors()), refused.value


def _scalars() -> list[Any]:
    """Returns (model, field, a value of another type) for each field that takes booleans or numbers."""
    others = {"boolean": [0, 1.0, "yes"], "integer": [True, "1"], "number": [True, "1"]}
    cases = []
    for model in _models():
        for name, field in model.model_json_schema().get("properties", {}).items():
            types = {form.get("type") for form in [field, *field.get("anyOf", [])]}
            for kind in sorted(others.keys() & types):
                cases += [pytest.param(model, name, one, id=f"{model.__name__}.{name}-{one}") for one in others[kind]]
    return cases


@pytest.mark.parametrize(("model", "name", "value"), _scalars())
def test_booleans_and_numbers_are_not_coerced_into_each_other(model: type[Request], name: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({name: value})
    assert any(error["loc"][:1] == (name,) for error in refused.value.errors()), refused.value


def test_a_pattern_with_nul_is_refused() -> None:
    """Regression: `POST /v1/sources` with a NUL in `include` returned 500."""
    body = {"name": "a", "config": {"kind": "folder", "path": ".", "include": ["a\x00"]}}
    with pytest.raises(ValidationError, match="NUL"):
        SourceCreate.model_validate(body)


def test_whitespace_is_accepted_as_text() -> None:
    content = "a\tb\r\nc\fd\v\N{SNOWMAN}"
    assert MessageCreate.model_validate({"content": content}).content == content
