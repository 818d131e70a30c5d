"""The cost of tokens between services: signing and verifying, with and without delegation, compared with HS256."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from uuid import uuid4

import jwt
from benchmarks.figures import Row
from deployment_keys import DELEGATED, DeploymentKeys

from contracts.gateway import Role
from service_kit.auth import Principal

ROUNDS, CALLS = 15, 200


def token_cost() -> list[Row]:
    keys = DeploymentKeys()
    gateway, retrieval, graph = (keys.tokens(name) for name in ("gateway", "retrieval", "knowledge-graph"))
    user = Principal(uuid4(), uuid4(), Role.owner)
    delegated = replace(user, delegation=gateway.delegate(user, ["retrieval"], DELEGATED))
    plain, onward = gateway.sign(user, "retrieval"), retrieval.sign(delegated, "knowledge-graph")
    secret = "s" * 48
    shared = jwt.encode(jwt.decode(plain, options={"verify_signature": False}), secret, "HS256")
    measured: dict[str, Callable[[], object]] = {
        "sign a token": lambda: gateway.sign(user, "retrieval"),
        "sign a delegation": lambda: gateway.delegate(user, ["retrieval"], DELEGATED),
        "verify a token": lambda: retrieval.verify(plain),
        "verify a token with a delegation": lambda: graph.verify(onward),
        "verify HS256, for comparison": lambda: jwt.decode(shared, secret, ["HS256"], audience="retrieval"),
    }
    return [(f"tokens: {name}", f"{_milliseconds(work):.3f} ms", "") for name, work in measured.items()]


def _milliseconds(work: Callable[[], object]) -> float:
    """Returns the CPU time of one call in milliseconds, as the median over rounds."""

    def once() -> float:
        start = time.thread_time()
        for _ in range(CALLS):
            work()
        return 1000 * (time.thread_time() - start) / CALLS

    return median(once() for _ in range(ROUNDS))
