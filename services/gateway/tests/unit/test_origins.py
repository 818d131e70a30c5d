"""Which hosts are this deployment's, and which pages are its own."""

import pytest
from starlette.requests import Request

from gateway.signin.origins import WebOrigins, host_name


def request(scheme="http", **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request(
        {"type": "http", "method": "POST", "scheme": scheme, "path": "/", "headers": pairs, "query_string": b""}
    )


@pytest.mark.parametrize(
    ("authority", "name"),
    [
        ("Example.ORG:8080", "example.org"),
        ("[::1]:8080", "[::1]"),
        ("127.0.0.1", "127.0.0.1"),
        ("user@example.org", None),
        ("example.org:", None),
        ("example.org/evil", None),
        ("a b", None),
        ("", None),
        ("::1", None),
    ],
)
def test_the_host_name_is_read_from_the_host_header(authority, name):
    assert host_name(authority) == name


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:1", "[::1]:1", "attractor.example.org", "Other.Example"])
def test_configured_host_names_are_accepted(host):
    assert WebOrigins("https://attractor.example.org", ["other.example"]).names_this(request(host=host))


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "evil-localhost", "127.0.0.1.nip.io"])
def test_other_host_names_are_refused(host):
    assert not WebOrigins("https://attractor.example.org", ["other.example"]).names_this(request(host=host))


def test_missing_and_duplicate_host_headers_are_refused():
    none = Request({"type": "http", "scheme": "http", "path": "/", "headers": [], "query_string": b""})
    two = Request({**none.scope, "headers": [(b"host", b"localhost"), (b"host", b"evil.example")]})
    origins = WebOrigins(None, [])
    assert not origins.names_this(none)
    assert not origins.names_this(two)


OWN = WebOrigins("https://attractor.example.org", ["other.example"])


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"origin": "https://attractor.example.org"}, True),
        ({"origin": "https://attractor.example.org", "sec_fetch_site": "same-origin"}, True),
        ({"origin": "null", "sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "none"}, False),
        ({"origin": "https://attractor.example.org", "sec_fetch_site": "cross-site"}, False),
        ({"origin": "https://evil.example", "sec_fetch_site": "same-origin"}, False),
        ({"origin": "http://attractor.example.org"}, False),
        ({"origin": "https://attractor.example.org:8443"}, False),
        ({"origin": "https://attractor.example.org.evil.example"}, False),
    ],
)
def test_same_origin_requests_are_recognised_by_their_headers(headers, own):
    # A proxy that terminates TLS, and says so
    assert OWN.is_same_origin(request("https", host="attractor.example.org", **headers)) is own


def test_another_port_on_this_machine_is_another_origin():
    origins = WebOrigins(None, [])
    assert origins.is_same_origin(request(host="localhost:8080", origin="http://localhost:8080"))
    assert not origins.is_same_origin(request(host="localhost:8080", origin="http://localhost:3000"))
    assert not origins.is_same_origin(request(host="localhost:8080", origin="http://127.0.0.1:8080"))


def test_an_unknown_host_name_is_not_a_trusted_origin():
    assert not WebOrigins(None, []).is_same_origin(request(host="evil.example", origin="http://evil.example"))
    withheld = request(host="evil.example", origin="null", sec_fetch_site="same-origin")
    assert not WebOrigins(None, []).is_same_origin(withheld)


def test_passwords_are_accepted_only_over_private_connections():
    plain = WebOrigins(None, ["team.example"])
    assert plain.is_confidential(request(host="localhost:8080"))
    assert plain.is_confidential(request("https", host="team.example"))
    assert not plain.is_confidential(request(host="team.example"))
    assert WebOrigins("https://team.example", []).is_confidential(request(host="team.example"))
