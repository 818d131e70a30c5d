"""The time zone of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from attractor_client import local_zone


@pytest.mark.parametrize(
    ("named", "zone"),
    [("Europe/Vienna", "Europe/Vienna"), (":Asia/Tokyo", "Asia/Tokyo"), ("Mars/Olympus", "UTC"), ("../../x", "UTC")],
)
def test_the_time_zone_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, named: str, zone: str) -> None:
    monkeypatch.setenv("TZ", named)
    assert local_zone.local_zone() == zone


def test_otherwise_the_time_zone_comes_from_the_system_link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TZ", raising=False)
    there = tmp_path / "zoneinfo/Europe/Berlin"
    there.parent.mkdir(parents=True)
    there.touch()
    link = tmp_path / "localtime"
    monkeypatch.setattr(local_zone, "_LOCALTIME", link)
    assert local_zone.local_zone() == "UTC"
    link.symlink_to(there)
    assert local_zone.local_zone() == "Europe/Berlin"
