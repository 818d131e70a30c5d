from contextlib import ExitStack
from uuid import uuid4

import pytest
from prometheus_client import Counter

from gateway.access.in_flight import InFlight, Shares
from gateway.errors import TooManyInFlight

WORKSPACE = uuid4()


@pytest.fixture
def in_flight():
    def make(per_key, per_workspace):
        return InFlight(
            "requests", Shares(per_key, per_workspace), Counter("x", "x", ["what", "holder"], registry=None)
        )

    return make


def test_a_key_has_a_limit_and_gets_its_slots_back(in_flight):
    limit, key = in_flight(2, 0), uuid4()
    with limit.held(key, WORKSPACE), limit.held(key, WORKSPACE):
        with pytest.raises(TooManyInFlight, match="this key"), limit.held(key, WORKSPACE):
            pass
        with limit.held(uuid4(), WORKSPACE):
            pass
    with limit.held(key, WORKSPACE), limit.held(key, WORKSPACE):
        pass
    assert not limit.keys
    assert not limit.workspaces


def test_keys_of_a_workspace_share_its_limit(in_flight):
    limit = in_flight(2, 3)
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(limit.held(uuid4(), WORKSPACE))
        with pytest.raises(TooManyInFlight, match="this workspace"), limit.held(uuid4(), WORKSPACE):
            pass
        with limit.held(uuid4(), uuid4()):
            pass


def test_the_heaviest_request_is_admitted_when_nothing_else_runs(in_flight):
    limit, key = in_flight(4, 0), uuid4()
    with ExitStack() as held:
        held.enter_context(limit.held(key, WORKSPACE))
        held.enter_context(limit.held(key, WORKSPACE, 1000, beside=1))
        with pytest.raises(TooManyInFlight):
            held.enter_context(limit.held(key, WORKSPACE))
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(limit.held(key, WORKSPACE))
        with pytest.raises(TooManyInFlight):
            held.enter_context(limit.held(key, WORKSPACE, 1000, beside=1))
    assert not limit.keys


def test_zero_means_no_limit(in_flight):
    limit, key = in_flight(0, 0), uuid4()
    with ExitStack() as held:
        for _ in range(1000):
            held.enter_context(limit.held(key, WORKSPACE, 50))
