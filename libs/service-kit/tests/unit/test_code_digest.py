from __future__ import annotations

import sys

import pytest

from service_kit.code_digest import code_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "digested_package"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "data" / "words.txt").write_text("one")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop(folder.name, None)


def test_the_digest_changes_with_settings_code_and_data_but_not_with_compiled_files(package):
    first = code_digest("{}", package.name)
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "made.pyc").write_text("compiled")
    assert code_digest("{}", package.name) == first
    assert code_digest('{"a": 1}', package.name) != first
    (package / "data" / "words.txt").write_text("two")
    changed = code_digest("{}", package.name)
    (package / "data" / "words.txt").rename(package / "data" / "others.txt")
    assert len({first, changed, code_digest("{}", package.name)}) == 3
