"""A gateway without services, for sign-in tests: browsers at given addresses, users, the database."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import psycopg
from deployment_keys import DeploymentKeys
from fastapi import FastAPI

from gateway.app import create_app
from gateway.settings import Settings

OWN_PAGE = {"Origin": "http://localhost:8080"}
PASSWORD = "seven small words in a row"
HOME = "http://localhost:8080"
NAME = "attractor_session"


@dataclass
class LoneGateway:
    """A gateway without services, its administrator's key, and superuser access to its database."""

    app: FastAPI
    admin_key: str
    database: str
    opened: list[httpx2.AsyncClient] = field(default_factory=list)

    def browser(self, address: str = "192.0.2.1", base_url: str = HOME) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False, client=(address, 1))
        client = httpx2.AsyncClient(transport=transport, base_url=base_url)
        self.opened.append(client)
        return client

    def admin(self, address: str = "192.0.2.1") -> httpx2.AsyncClient:
        client = self.browser(address)
        client.headers["Authorization"] = f"Bearer {self.admin_key}"
        return client

    def sql(self, statement: str, *values: Any) -> None:
        with psycopg.connect(self.database) as connection:
            connection.execute("SET search_path TO gateway")
            connection.execute(statement.encode(), values)


@asynccontextmanager
async def lone_gateway(
    database: Any, redis_url: str, token_keys: DeploymentKeys, **changes: Any
) -> AsyncIterator[LoneGateway]:
    """Starts a gateway on the database, without services behind it."""
    key = secrets.token_hex(32)
    services = ("ingestion", "retrieval", "knowledge_graph", "memory", "orchestrator")
    values = {f"{name}_url": "http://127.0.0.1:1" for name in services} | {
        "database_url": database.service,
        "redis_url": redis_url,
        **token_keys.settings("gateway"),
        "admin_api_key": key,
    }
    app = create_app(Settings(**(values | changes)))
    gateway = LoneGateway(app, key, database.admin)
    async with app.router.lifespan_context(app):
        yield gateway
        for client in gateway.opened:
            await client.aclose()


async def member(gateway: LoneGateway, name: str, role: str = "editor", workspaces: int = 1) -> str:
    """Creates a user who has a password and is a member; returns the user's id."""
    admin = gateway.admin()
    user = (await admin.post("/v1/users", json={"name": name})).json()["id"]
    for number in range(workspaces):
        workspace_id = (await admin.post("/v1/workspaces", json={"name": f"{name} {number}"})).json()["id"]
        assert (
            await admin.put(f"/v1/workspaces/{workspace_id}/members/{user}", json={"role": role})
        ).status_code == 200
    link = (await admin.post(f"/v1/users/{user}/password-links")).json()
    body = {"token": link["token"], "password": PASSWORD}
    assert (await gateway.browser().post("/v1/auth/password-links", json=body)).status_code == 204
    return user


async def sign_in(browser: httpx2.AsyncClient, login: str, password: str = PASSWORD) -> httpx2.Response:
    return await browser.post("/v1/auth/sign-in", json={"login": login, "password": password}, headers=OWN_PAGE)


async def signed_in(gateway: LoneGateway, name: str) -> httpx2.AsyncClient:
    browser = gateway.browser()
    assert (await sign_in(browser, name)).status_code == 200
    return browser


def problem(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["type"]
