import asyncio

import pytest

from inference.breaker import CircuitBreaker
from inference.errors import CircuitOpen


class Down(Exception):
    pass


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(failures=2, reset_seconds=10, clock=clock)


def fail(breaker: CircuitBreaker, error: BaseException) -> None:
    with pytest.raises(type(error)), breaker.call(failures=Down):
        raise error


def test_opens_after_consecutive_failures(breaker: CircuitBreaker) -> None:
    fail(breaker, Down())
    with breaker.call(failures=Down):
        pass
    fail(breaker, Down())
    assert breaker.state == "closed"
    fail(breaker, Down())
    assert breaker.state == "open"
    fail(breaker, CircuitOpen())


def test_another_kind_of_error_counts_as_a_response(breaker: CircuitBreaker) -> None:
    fail(breaker, Down())
    fail(breaker, ValueError())
    fail(breaker, Down())
    assert breaker.state == "closed"


def test_one_probe_runs_at_a_time_and_a_failed_probe_reopens_the_circuit(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, Down())
    fail(breaker, Down())
    clock.now = 10
    assert breaker.state == "half-open"
    with breaker.call(failures=Down):
        fail(breaker, CircuitOpen())
    fail(breaker, Down())
    fail(breaker, Down())
    clock.now = 20
    fail(breaker, Down())
    assert breaker.state == "open"
    clock.now = 30
    with breaker.call(failures=Down):
        pass
    assert breaker.state == "closed"


def test_a_cancelled_probe_allows_the_next_one(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, Down())
    fail(breaker, Down())
    clock.now = 10
    fail(breaker, asyncio.CancelledError())
    assert breaker.state == "half-open"
    with breaker.call(failures=Down):
        pass
    assert breaker.state == "closed"
