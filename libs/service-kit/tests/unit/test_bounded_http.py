"""What a server accepts from a client that it does not know yet, over real connections."""

import asyncio
import json
from contextlib import asynccontextmanager, nullcontext

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from service_kit.bounded_http import HttpBounds
from service_kit.connections import Connections
from service_kit.serve import server_config
from service_kit.telemetry import Metrics

GET = b"GET /small HTTP/1.1\r\nHost: a\r\n"


class QuietServer(uvicorn.Server):
    def capture_signals(self):
        return nullcontext()


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else None
        self.head = head.lower()


class Client:
    """A connection on which a test writes bytes as it likes."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self):
        """Returns one answer with a Content-Length, and leaves the connection as it is."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return Answer(head + await self.reader.readexactly(length))

    async def rest(self):
        """Returns what comes until the server closes the connection."""
        try:
            return Answer(await self.reader.read())
        except ConnectionResetError:
            return Answer(b"")


@pytest.fixture
def app():
    app = FastAPI()
    app.state.metrics = Metrics()
    app.state.held = asyncio.Event()

    @app.get("/small")
    async def small(request: Request):
        return {"headers": len(request.headers)}

    @app.get("/held")
    async def held():
        await app.state.held.wait()
        return {}

    @app.post("/upload")
    async def upload(request: Request):
        return {"size": len(await request.body())}

    @app.get("/endless")
    async def endless():
        async def stream():
            while True:
                yield b"x" * 65536
                await asyncio.sleep(0)

        return StreamingResponse(stream())

    return app


@pytest.fixture
def served(app):
    @asynccontextmanager
    async def start(bounds=None, most=100, per_address=None):
        admitted = Connections(most, per_address)
        config = server_config(
            app, admitted, bounds, host="127.0.0.1", port=0, forwarded_allow_ips="", timeout_graceful_shutdown=1
        )
        server = QuietServer(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            if serving.done():
                serving.result()
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]

        clients = []

        async def connect():
            clients.append(Client(*await asyncio.open_connection("127.0.0.1", port)))
            return clients[-1]

        try:
            yield connect
        finally:
            app.state.held.set()
            for client in clients:
                client.writer.close()
            server.should_exit = True
            await serving

    return start


def refused(app, reason):
    return app.state.metrics.registry.get_sample_value("attractor_connections_refused_total", {"reason": reason})


async def test_requests_with_normal_headers_on_one_connection_pass(served):
    async with served() as connect:
        client = await connect()
        for size in (10, 8_000, 30_000):
            await client.send(GET + b"X-Long: " + b"a" * size + b"\r\n\r\n")
            assert (await client.answer()).status == 200
        await client.send((GET + b"\r\n") * 3)
        assert [(await client.answer()).status for _ in range(3)] == [200] * 3


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 100_000,
        GET + b"X-Long: " + b"a" * 100_000,
        GET + b"A" * 100_000,
        GET + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(90)),
        GET + b"".join(b"X-%d: a\r\n" % n for n in range(200)) + b"\r\n",
        b"\r\n" * 50_000,
    ],
    ids=["target", "value", "name", "sum", "count", "blank lines"],
)
async def test_an_oversized_header_is_a_431_before_it_is_fully_read(served, app, head):
    async with served() as connect:
        client = await connect()
        await client.send(head)
        answer = await client.rest()
        assert (answer.status, json.loads(answer.body)["type"]) == (431, "header-too-large")
        assert b"connection: close" in answer.head
        assert refused(app, "header-too-large") == 1


async def test_trailer_fields_are_bounded_and_ignored(served):
    async with served() as connect:
        client = await connect()
        upload = b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
        await client.send(upload + b"X-Late: b\r\n\r\n")
        assert json.loads((await client.answer()).body) == {"size": 3}
        await client.send(upload + b"X-Late: " + b"a" * 100_000)
        assert (await client.rest()).status == 431


async def test_a_header_that_never_ends_is_a_408(served, app):
    async with served(HttpBounds(head_seconds=1)) as connect:
        silent, slow = await connect(), await connect()
        await slow.send(GET)
        assert [(await silent.rest()).status, (await slow.rest()).status] == [408, 408]
        used = await connect()
        await used.send(GET + b"\r\n" + GET)
        assert (await used.answer()).status == 200
        assert (await used.rest()).status == 408
        assert refused(app, "request-timeout") == 3


async def test_a_stalled_body_is_a_408(served):
    async with served(HttpBounds(body_seconds=0.2)) as connect:
        stuck, trickling = await connect(), await connect()
        for client in (stuck, trickling):
            await client.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")
        assert (await stuck.rest()).status == 408

        async def trickle():
            while True:
                await trickling.send(b"x")
                await asyncio.sleep(0.01)

        trickled = asyncio.create_task(trickle())
        assert (await trickling.rest()).status == 408
        trickled.cancel()


async def test_a_large_upload_passes(served):
    async with served(HttpBounds(body_seconds=2)) as connect:
        client = await connect()
        await client.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n" + b"x" * 5_000_000)
        assert json.loads((await client.answer()).body) == {"size": 5_000_000}


async def test_a_response_may_take_longer_than_a_header(served, app):
    async with served(HttpBounds(head_seconds=0.7, body_seconds=0.7)) as connect:
        client = await connect()
        await client.send(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await asyncio.sleep(1)
        app.state.held.set()
        assert (await client.answer()).status == 200


async def test_a_client_that_does_not_read_its_response_is_disconnected(served):
    async with served(HttpBounds(write_seconds=0.3), most=1) as connect:
        client = await connect()
        await client.send(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
        status = 503
        while status == 503:
            other = await connect()
            await other.send(GET + b"Connection: close\r\n\r\n")
            status = (await other.rest()).status or 503
        assert status == 200


async def test_idle_connections_are_closed_to_make_room_and_busy_ones_stay(served, app):
    async with served(most=10) as connect:
        busy = [await connect() for _ in range(5)]
        for client in busy:
            await client.send(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        idle = [await connect() for _ in range(40)]
        client = await connect()
        await client.send(GET + b"\r\n")
        assert (await client.answer()).status == 200
        assert (await idle[0].rest()).status == 408
        app.state.held.set()
        assert [(await client.answer()).status for client in busy] == [200] * 5


async def test_if_all_connections_are_in_use_the_next_gets_a_503(served):
    async with served(per_address=2) as connect:
        for _ in range(2):
            await (await connect()).send(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = Answer(b"")
        while answer.status != 503:
            client = await connect()
            await client.send(GET + b"Connection: close\r\n\r\n")
            answer = await client.rest()
        assert json.loads(answer.body)["type"] == "too-many-connections"
        assert b"retry-after: 1" in answer.head
