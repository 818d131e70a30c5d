"""What a route depends on is found on the event loop: a plain function would run in a thread, which costs more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any

import pytest
from contract.generated import application
from deployment_keys import SERVICES
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute


def dependencies(dependant: Dependant) -> Iterator[Callable[..., Any]]:
    for one in dependant.dependencies:
        if one.call is not None:
            yield one.call
        yield from dependencies(one)


@pytest.mark.parametrize("service", SERVICES)
def test_no_request_waits_for_a_free_thread_before_it_is_handled(service: str) -> None:
    routes = [route for route in application(service).routes if isinstance(route, APIRoute)]
    called = {call for route in routes for call in dependencies(route.dependant)}
    in_threads = [call for call in called if not (iscoroutinefunction(call) or isasyncgenfunction(call))]
    assert routes
    assert in_threads == []
