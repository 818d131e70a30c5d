"""The Redis ACL: one user per service, with its own streams and keys. The default user is disabled.

Both ways to run render their ACL file from this table: `make run` for Valkey, `make env` for Compose; hence the
standard library only. Redis cannot restrict consumer groups or event sources; the consumers check these
(`service_kit.admission`).
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

ADMINISTRATOR = "administrator"  # for operators and tests; no service has its password
MONITOR = "monitor"  # of Redis' exporter: numbers about the server, and no key
DOCUMENTS, TURNS = "attractor.documents", "attractor.turns"
MEMORY = "+info|memory"  # memory usage, and no other section
CONNECTION = "+hello +auth +ping +quit +reset +select +client|setinfo +client|setname +client|id +multi +exec +discard"
SCRIPTS = "+eval +evalsha +script|load +script|exists"
READ_STREAM = (
    "+xgroup|create +xreadgroup +xack +xclaim +xautoclaim +xpending +xinfo|groups +xinfo|stream +xtrim +xlen +exists"
    " +memory|usage"
)
DEAD_LETTERS = "+xadd +xrange +xdel +xlen"
# The commands of Celery's Redis transport, on both sides of the broker.
BROKER = (
    "+lpush +rpush +brpop +rpop +llen +del +exists +sadd +srem +smembers +hset +hget +hdel +zadd +zrem +zscore +zrange"
    " +zrangebyscore +zrevrangebyscore +zremrangebyscore +set +get +expire +pexpire +pttl +time +watch +unwatch"
    " ~ingestion.* ~ingestion@* ~_kombu.binding* ~unacked*"
)
BROADCASTS = "+publish +subscribe +unsubscribe +psubscribe +punsubscribe &/0.celery.pidbox &/0.celeryev*"


def _reads(stream: str) -> str:
    """Returns the rules of a service that consumes a stream and keeps its dead letters."""
    return f"{MEMORY} ({READ_STREAM} ~{stream}) ({DEAD_LETTERS} ~{stream}.dead)"


def _writes(stream: str) -> str:
    return f"(+xadd ~{stream})"


# Commands outside parentheses apply to the keys outside them; each pair of parentheses is a rule of its own.
RULES = {
    "gateway": f"{SCRIPTS} +hmget +hset +pexpire +time ~gateway:* {_reads(DOCUMENTS)} {_writes(DOCUMENTS)}"
    # It deletes the events of a deleted workspace, reports consumer lag, and replays dead letters.
    f" (+xrange +xdel ~{DOCUMENTS} ~{TURNS} ~{TURNS}.dead) (+xadd +xinfo|groups +xpending ~{TURNS})"
    # It passes on what changes in a workspace.
    f" (+xread +xinfo|stream ~{DOCUMENTS} ~{TURNS} ~{DOCUMENTS}.dead ~{TURNS}.dead)",
    "ingestion": f"{SCRIPTS} {BROKER} {BROADCASTS} {_reads(DOCUMENTS)} {_writes(DOCUMENTS)}",
    # It communicates through the database only, and needs Redis just for wake-ups.
    "ingestion-worker": f"{SCRIPTS} {BROKER} {BROADCASTS}",
    "retrieval": f"{SCRIPTS} +get +set +del +zadd +zcard +zrange +zpopmin +zremrangebyscore +pttl +pexpire +time"
    f" ~retrieval:* {_reads(DOCUMENTS)} {_writes(DOCUMENTS)}",
    "knowledge-graph": f"{_reads(DOCUMENTS)} {_writes(DOCUMENTS)}",
    "memory": f"{_reads(DOCUMENTS)} {_writes(DOCUMENTS)} {_reads(TURNS)} {_writes(TURNS)}",
    "orchestrator": "+xadd +xread +xrange +xrevrange +expire +xdel +del +exists ~attractor.runs.*"
    f" {_reads(DOCUMENTS)} {_writes(DOCUMENTS)} {_writes(TURNS)}",
}
NUMBERS = "+info +latency|latest +latency|histogram +slowlog|len"
USERS = (*RULES, MONITOR, ADMINISTRATOR)


def rendered(password: Callable[[str], str]) -> str:
    """Returns the ACL file; `password` returns a user's password, of which the file holds only a digest."""
    lines = ["user default off resetpass resetkeys resetchannels -@all"]
    lines += [f"{_user(name, password(name))} -@all {CONNECTION} {rules}" for name, rules in RULES.items()]
    lines.append(f"{_user(MONITOR, password(MONITOR))} -@all {CONNECTION} {NUMBERS}")
    return "\n".join([*lines, f"{_user(ADMINISTRATOR, password(ADMINISTRATOR))} +@all ~* &*"]) + "\n"


def _user(name: str, password: str) -> str:
    return f"user {name} on #{sha256(password.encode()).hexdigest()} resetkeys resetchannels"
