"""Every operation that changes something is either audited or listed as no deed."""

import json
from pathlib import Path

import contracts
from gateway.audit.actions import ACTIONS, NOT_AUDITED, find

MERGED = Path(contracts.__file__).parent / "api" / "attractor.openapi.json"
CHANGING = {"post", "put", "patch", "delete"}


def operations() -> set[tuple[str, str]]:
    paths = json.loads(MERGED.read_text(encoding="utf-8"))["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods if method in CHANGING}


def test_every_mutating_operation_is_audited_or_exempt() -> None:
    audited = {(action.method, action.path) for action in ACTIONS}
    tools = {one for one in operations() if one[1].startswith("/v1/graph/tools/")}
    assert operations() - tools - audited == NOT_AUDITED


def test_the_audit_lists_no_operation_that_does_not_exist() -> None:
    paths = json.loads(MERGED.read_text(encoding="utf-8"))["paths"]
    assert [action for action in ACTIONS if action.method.lower() not in paths.get(action.path, {})] == []


def test_an_action_is_resolved_with_the_ids_in_its_path() -> None:
    action, target, workspace = find("PUT", "/v1/workspaces/w/members/u") or (None, None, None)
    assert action is not None
    assert (action.name, target, workspace) == ("member.put", "u", "w")
    assert find("GET", "/v1/documents/d") is None
    assert find("PUT", "/v1/workspaces/w/members/u/more") is None
