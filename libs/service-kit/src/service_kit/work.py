"""Leased work over a table: claim, extend, release with delay, finish, and recover from dead processes.

A row is held by whoever knows its `lease_token`, which guards every write of the holder, so that a process that was
taken for dead can no longer change anything. Workers that wait for work are woken by NOTIFY.

What a table needs:

- Columns: `workspace_id uuid`, further columns of its key, and
  `state text NOT NULL DEFAULT 'queued'`, `available_at timestamptz NOT NULL DEFAULT now()`,
  `attempts integer NOT NULL DEFAULT 0` (claims that count), `lease_token uuid`, `lease_owner text` (who holds it or
  held it last), `lease_expires_at timestamptz`. Further columns may be written with each transition, by name.
- Migration: `protect_queue('run')`, `wake_workers('run', 'run_queued')` and two indexes, which every claim reads:

      CREATE INDEX run_waiting ON run (workspace_id, available_at) WHERE state = 'queued';
      CREATE INDEX run_held ON run (workspace_id, lease_token) WHERE lease_token IS NOT NULL;

- A frozen dataclass of what a claim returns, with `workspace_id` and `lease_token`, and its WorkTable.
- A test that derives from `WorkConformance` of tests/work_conformance.py.

Code that runs in threads calls this on its event loop (`asyncio.run_coroutine_threadsafe`).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Generic, Protocol
from uuid import UUID

from service_kit.heartbeat import Heartbeat, Held
from service_kit.postgres import Connection, Database
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

ALIASES = ("work", "first", "due", "locked", "lost")
PARTY_ALIASES = ("work", "parties", "following")
SPARE_CHOICES = 16  # other processes may lock the chosen rows at the same moment


class LeaseLost(Exception):
    """Another process holds the work, or it no longer exists: nothing more may be written for it."""


class StopAsked(Exception):
    """The row asks its holder to stop (`WorkTable.stop`)."""


class WorkSql(Protocol):
    """The statements over one table."""

    claim: str
    extend: str
    extend_together: str
    release: str
    finish: str
    recover: str


@dataclass(frozen=True)
class Extended:
    """A lease that was extended, and whether its holder should stop."""

    lease_token: UUID
    stop: bool


@dataclass(frozen=True)
class WorkTable(Generic[Held]):
    """Describes a table of leased work, which SQL expressions call `work`.

    `channel` is that of `wake_workers`, prefixed with the schema. `computed` gives fields of the claimed row that
    are not columns. `waiting` selects the items that may be claimed, `claimable` those of them that may begin now;
    the highest `priority` comes first; the three may use parameters of `claim`. `most` is how many items one workspace
    may hold; null: no limit. `user` is a column by which the users of a workspace take turns; the first index is then
    on `(workspace_id, user, available_at)`. `stop` asks a holder to stop, also in a transaction of all workspaces
    unless each extension writes further columns. `running` and `queued` are set by claim and release (None: the state
    stays); the `on_` expressions are set as well, and `on_loss` replaces the return to `queued`.
    """

    name: str
    row: type[Held]
    channel: str
    key: tuple[str, ...] = ("workspace_id", "id")
    computed: Mapping[str, str] = field(default_factory=dict)
    waiting: str = "work.state = 'queued'"
    claimable: str = "true"
    priority: str = "NULL::integer"
    most: str | None = None
    user: str | None = None
    stop: str = "false"
    running: str | None = "running"
    queued: str | None = "queued"
    on_claim: str = ""
    on_finish: str = ""
    on_loss: str | None = None
    sql: WorkSql = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [one.name for one in fields(self.row)]  # type: ignore[arg-type]  # a dataclass, as the docstring asks
        party = ("workspace_id", *([self.user] if self.user else []))
        queued = f"state = '{self.queued}'" if self.queued else ""

        class Sql(
            Statements,
            file="work.sql",
            table=self.name,
            key=", ".join(self.key),
            **{f"{alias}_key": _columns(alias, self.key) for alias in ALIASES},
            party=", ".join(party),
            **{f"{alias}_party": _columns(alias, party) for alias in PARTY_ALIASES},
            waiting=f"{self.waiting} AND work.lease_token IS NULL",
            claimable=f"({self.claimable})",
            priority=self.priority,
            within=f"(coalesce(held.items, 0) + due.place > {self.most}) IS NOT TRUE" if self.most else "true",
            stop=self.stop,
            on_claim=_also(f"state = '{self.running}'" if self.running else "", self.on_claim),
            on_release=_also(queued),
            on_finish=_also(self.on_finish),
            on_loss=_also(queued if self.on_loss is None else self.on_loss),
            returned=", ".join(f"{self.computed.get(name, f'work.{name}')} AS {name}" for name in names),
            set="{set}",
        ):
            claim: str
            extend: str
            extend_together: str
            release: str
            finish: str
            recover: str

        object.__setattr__(self, "sql", Sql)


def _columns(alias: str, names: Iterable[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


def _also(*assignments: str) -> str:
    return "".join(f", {one}" for one in assignments if one)


def process_name() -> str:
    """Returns the name of this process, for `lease_owner`."""
    return f"{socket.gethostname()}-{os.getpid()}"


class WorkQueue(Generic[Held]):
    """The work of one table, claimed in the name of `owner`.

    Claiming looks across all workspaces. Transitions of held work happen in the caller's transaction, which is bound to
    the work's workspace, and may set further columns by name.
    """

    def __init__(
        self, database: Database, table: WorkTable[Held], lease_seconds: float, owner: str | None = None
    ) -> None:
        self.database, self.table, self.lease_seconds = database, table, lease_seconds
        self.owner = owner or process_name()
        self.heartbeat: Heartbeat[Held] = Heartbeat(self.extend_together)

    async def claim(self, limit: int, **parameters: object) -> list[Held]:
        """Leases up to `limit` due items; workspaces with the fewest items in progress come first, in turn."""
        values = {"limit": limit, "spare": SPARE_CHOICES, "owner": self.owner, "lease_seconds": self.lease_seconds}
        async with self.database.system() as connection:
            if self.table.most:  # two claims must not both miss each other in their counts
                await connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"claim/{self.table.name}",))
            queue = SystemRepository(connection)
            return await queue.all(self.table.sql.claim, self.table.row, **values, **parameters)

    async def recover(self) -> int:
        """Puts items with expired leases back into the queue; returns how many."""
        async with self.database.system() as connection:
            return await SystemRepository(connection).run(self.table.sql.recover)

    async def extend(self, connection: Connection, held: Held, /, **columns: object) -> bool:
        """Extends the lease and locks the row until the transaction ends. Raises LeaseLost.

        Returns whether the holder should stop.
        """
        values = {"lease_token": held.lease_token, "lease_seconds": self.lease_seconds, **columns}
        repository = Repository(connection, held.workspace_id)
        # Twice: a lease may move to another row while the first statement waits, and only a second one sees that.
        for _ in range(2):
            stop = await repository.value(_setting(self.table.sql.extend, columns), **values)
            if stop is not None:
                return bool(stop)
        raise LeaseLost

    async def extend_together(self, held: Sequence[Held]) -> Mapping[UUID, bool]:
        """Extends the leases in one statement; returns by token whether the holder should stop.

        A missing token is lost or its row is being written right now; `extend` tells which.
        """
        values = {
            "workspace_ids": [one.workspace_id for one in held],
            "lease_tokens": [one.lease_token for one in held],
            "lease_seconds": self.lease_seconds,
        }
        async with self.database.system() as connection:
            rows = await SystemRepository(connection).all(self.table.sql.extend_together, Extended, **values)
        return {row.lease_token: row.stop for row in rows}

    async def release(
        self,
        connection: Connection,
        held: Held,
        /,
        *,
        delay_seconds: float = 0.0,
        refund: bool = False,
        **columns: object,
    ) -> None:
        """Puts the work back into the queue. `refund`: the attempt does not count. Raises LeaseLost."""
        values = {"delay_seconds": delay_seconds, "refund": int(refund), **columns}
        await self._end(connection, held, _setting(self.table.sql.release, columns), values)

    async def finish(self, connection: Connection, held: Held, state: str, /, **columns: object) -> None:
        """Ends the work, successfully or not, in the given state. Raises LeaseLost."""
        columns = {"state": state, **columns}
        await self._end(connection, held, _setting(self.table.sql.finish, columns), columns)

    async def _end(self, connection: Connection, held: Held, sql: str, values: Mapping[str, object]) -> None:
        repository = Repository(connection, held.workspace_id)
        if not await repository.run(sql, lease_token=held.lease_token, **values):
            raise LeaseLost


def _setting(sql: str, columns: Mapping[str, object]) -> str:
    return sql.replace("{set}", _also(*(f"{column} = %({column})s" for column in columns)))
