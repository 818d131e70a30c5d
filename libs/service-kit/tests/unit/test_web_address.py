"""Which addresses the web source may connect to."""

from __future__ import annotations

from ipaddress import ip_address
from uuid import uuid4

import pytest

from contracts.sources import WebConfig
from ingestion.sources import web
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import SourceRefused
from service_kit.web_address import AddressRefused, AllowedAddresses, allowed_addresses, is_public

INTERNAL = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:c0a8:101::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81d::200e",
]
ALL_FORMS_OF_LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0X7F.0.0.1",
    "017700000001",
    "0177.0.0.01",
    "127.0.0.1.",
    "127。0。0。1",
    "１２７.0.0.1",
    "%31%32%37.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "0",
    "0.0.0.0",
    "[::]",
]


@pytest.mark.parametrize("address", INTERNAL)
def test_an_internal_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ALL_FORMS_OF_LOOPBACK)
async def test_a_literal_internal_address_is_refused_in_every_notation(host: str) -> None:
    with pytest.raises(AddressRefused):
        AllowedAddresses().check_url(f"http://{host}/")
    with pytest.raises(AddressRefused):
        AllowedAddresses().check_url(f"http://{host}:80/")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "http://user:password@example.org/",
        "http://user@example.org/",
        "http://example.org:22/",
        "https://example.org:6379/",
        "http://[::1",
        "nonsense",
        "",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        AllowedAddresses().check_url(url)


@pytest.mark.parametrize(
    "url", ["http://example.org/a", "https://example.org", "http://example.org:8080/", "http://8.8.8.8/"]
)
def test_urls_on_the_internet_are_accepted(url: str) -> None:
    AllowedAddresses().check_url(url)


def test_a_host_with_one_internal_address_is_refused() -> None:
    with pytest.raises(AddressRefused, match=r"^example\.org is not a public address\.$"):
        AllowedAddresses().check("example.org", 443, [ip_address("8.8.8.8"), ip_address("10.0.0.1")])


def test_any_port_is_allowed_only_on_allowed_addresses() -> None:
    allowed = allowed_addresses("10.0.0.0/8")
    allowed.check("wiki", 9000, [ip_address("10.0.0.1"), ip_address("::ffff:10.0.0.2")])
    with pytest.raises(AddressRefused, match="port 9000"):
        allowed.check("wiki", 9000, [ip_address("10.0.0.1"), ip_address("8.8.8.8")])
    with pytest.raises(AddressRefused):
        allowed.check("wiki", 80, [ip_address("192.168.0.1")])


def test_behind_a_proxy_the_port_is_checked_without_resolving_the_name() -> None:
    allowed = allowed_addresses("10.0.0.0/8, wiki.intern")
    allowed.check_url("http://other.intern:9000/")
    allowed.check_url("http://wiki.intern:9000/", proxied=True)
    allowed.check_url("http://10.0.0.1:9000/", proxied=True)
    with pytest.raises(AddressRefused):
        allowed.check_url("http://other.intern:9000/", proxied=True)


def test_an_allowed_host_is_allowed_at_any_address() -> None:
    allowed = allowed_addresses("Wiki.Intern, fd00::/8")
    allowed.check_url("http://wiki.intern:9000/")
    allowed.check("WIKI.intern.", 9000, [ip_address("192.168.0.1")])
    allowed.check("other", 9000, [ip_address("fd00::1")])
    with pytest.raises(AddressRefused):
        allowed.check("not-wiki.intern", 80, [ip_address("192.168.0.1")])


@pytest.mark.parametrize("text", ["10.0.0.0/99", "http://wiki", "a b", "127.1", "wiki:80", "*.intern", "-x"])
def test_meaningless_settings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a network"):
        allowed_addresses(text)


async def test_a_source_is_refused_by_its_url_before_any_request() -> None:
    reach = SourceSettings().reach(uuid4(), False)
    await web.check(WebConfig(url="https://example.org/docs/"), reach)
    for url in ("http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://u:p@example.org/"):
        with pytest.raises(SourceRefused):
            await web.check(WebConfig(url=url), reach)
    with pytest.raises(SourceRefused):
        await web.check(WebConfig(url="https://example.org/", include=["!"]), reach)
    with pytest.raises(SourceRefused, match="1000 characters"):
        await web.check(WebConfig(url=f"https://example.org/{'a' * 1000}"), reach)
    allowed = SourceSettings(web_allowed_networks="127.0.0.0/8").reach(uuid4(), False)
    await web.check(WebConfig(url="http://127.0.0.1:9/"), allowed)
