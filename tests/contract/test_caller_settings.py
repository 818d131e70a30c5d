"""Tests run alike whatever the caller has set for an installation of their own."""

from __future__ import annotations

import os
from pathlib import Path

import caller_settings
import pytest

from embedded.topology import user_settings


def test_the_callers_settings_do_not_reach_the_stacks_of_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("BACKUP_FOLDER=/mnt/backups\nCHAT_MODEL=mine\n")
    monkeypatch.setattr(os, "environ", {"HOST": "0.0.0.0", "https_proxy": "http://proxy", "CHAT_BASE_URL": "http://a"})
    caller_settings.hide(dotenv)
    assert set(user_settings(dotenv)) == {"BACKUP_FOLDER", "CHAT_MODEL", "HOST", "https_proxy", "CHAT_BASE_URL"}
    assert set(user_settings(dotenv).values()) == {""}


def test_other_variables_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"PATH": "/bin", "HOME": "/home/ada"})
    caller_settings.hide(tmp_path / ".env")
    assert os.environ == {"PATH": "/bin", "HOME": "/home/ada"}
