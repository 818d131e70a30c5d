"""Probes ports without key, password or certificate; prints the requests that each of them accepted.

    port_probe.py '[["127.0.0.1", 8888], ...]'

Standard library only, and one file: it also runs as another user, and inside containers (`python - ARGUMENT < this`).
Liveness, readiness and metrics are open by design, reveal no content, and are not probed.
"""

import json
import socket
import ssl
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPSConnection

SECONDS = 5.0
# Worthwhile reads and writes on the object store's servers, and on Attractor's own.
READ = (
    *(
        "/",
        "/buckets/",
        "/buckets/attractor/",
        "/ui/index.html",
        "/status",
        "/stats/disk",
        "/dir/status",
        "/dir/assign",
    ),
    *("/dir/lookup?volumeId=1", "/vol/status", "/cluster/status", "/attractor/", "/api/cluster/topology", "/admin"),
    *("/v1/documents", "/v1/sources", "/v1/sessions", "/v1/graph/entities", "/v1/memories", "/v1/search"),
)
WRITTEN = (("PUT", "/attractor/planted"), ("POST", "/buckets/attractor/planted"), ("DELETE", "/buckets/attractor/"))
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
SETTINGS = 4


def http(host, port, secure):
    """Yields the requests that got a 2xx or 3xx with some content."""
    for method, path in (*(("GET", path) for path in READ), *WRITTEN):
        connection = (
            HTTPSConnection(host, port, timeout=SECONDS, context=trusting())
            if secure
            else HTTPConnection(host, port, timeout=SECONDS)
        )
        try:
            connection.request(method, path, body=b"x" if method in {"PUT", "POST"} else None)
            answer = connection.getresponse()
            told = answer.read(1) or method != "GET"  # an empty page only shows that the server is up
        except (OSError, HTTPException):
            return  # does not speak HTTP without a certificate or key
        finally:
            connection.close()
        if answer.status < 400 and told:
            yield f"{method} {path}: {answer.status}"


def grpc(host, port, secure):
    """Yields a line if the server starts to speak HTTP/2, the protocol of gRPC."""
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as plain:
            stream = trusting("h2").wrap_socket(plain) if secure else plain
            stream.sendall(HTTP2)
            answer = stream.recv(9)
    except OSError:
        return
    if len(answer) == 9 and answer[3] == SETTINGS:
        yield f"gRPC {'with TLS' if secure else 'in the clear'}"


def redis(host, port):
    for command in (b"PING\r\n", b"KEYS *\r\n"):
        answer = exchange(host, port, command)
        if answer[:1] in {b"+", b"*", b"$"}:
            yield f"Redis {command.decode().strip()}"


def postgres(host, port):
    """Yields a line if a login without a password is accepted (AuthenticationOk)."""
    parameters = b"user\0postgres\0database\0attractor\0\0"
    answer = exchange(host, port, struct.pack("!ii", 8 + len(parameters), 196608) + parameters)
    if answer[:1] == b"R" and answer[5:9] == bytes(4):
        yield "PostgreSQL login"


def bolt(host, port):
    """Yields a line if Neo4j accepts a client without a password: version 4.4, HELLO with the scheme `none`."""
    hello = b"\xb1\x01\xa2\x8auser_agent\x85probe\x86scheme\x84none"
    begin = b"\x60\x60\xb0\x17" + b"\0\0\4\4" + bytes(12)
    answer = exchange(host, port, begin, struct.pack("!H", len(hello)) + hello + bytes(2))
    if answer[2:4] == b"\xb1\x70":  # SUCCESS
        yield "Bolt HELLO"


def exchange(host, port, *messages):
    """Returns the response to the last message; empty if there is none."""
    answer = b""
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as stream:
            for message in messages:
                stream.sendall(message)
                answer = stream.recv(64)
    except OSError:
        return b""
    return answer


def trusting(protocol=None):
    """Returns a client that accepts any certificate and presents none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocol:
        context.set_alpn_protocols([protocol])
    return context


CHECKS = (
    *(lambda host, port, secure=secure: http(host, port, secure) for secure in (False, True)),
    *(lambda host, port, secure=secure: grpc(host, port, secure) for secure in (False, True)),
    *(redis, postgres, bolt),
)


if __name__ == "__main__":
    checks = [(host, port, check) for host, port in json.loads(sys.argv[1]) for check in CHECKS]
    with ThreadPoolExecutor(64) as pool:  # most of them wait for a server that says nothing
        found = list(pool.map(lambda one: list(one[2](one[0], one[1])), checks))
    results = {}
    for (host, port, _), those in zip(checks, found, strict=True):
        if those:
            results.setdefault(f"{host}:{port}", []).extend(those)
    sys.stdout.write(json.dumps(results) + "\n")
