"""Answers of other code are never found in the cache, whichever library ranks."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

from retrieval.search.cache import version_of


@pytest.mark.parametrize("package", ["retrieval", "relevance", "inference", "contracts"])
def test_the_version_changes_with_the_service_and_with_each_library_that_its_answers_depend_on(
    package, tmp_path, monkeypatch
):
    files, before = resources.files, version_of("{}")
    copied = shutil.copytree(Path(str(files(package))), tmp_path / package)
    monkeypatch.setattr(resources, "files", lambda name: copied if name == package else files(name))
    assert version_of("{}") == before
    with (copied / "__init__.py").open("a") as file:
        file.write("# changed\n")
    assert version_of("{}") != before
