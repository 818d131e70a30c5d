from pathlib import Path

import pytest

from inference.errors import PromptInvalid
from inference.prompts import Prompt


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "prompts_of_a_test"
    (folder / "prompts").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "prompts" / "answer.md").write_text('Answer {{question}} from {{ passages }} as {"a": {"b": 1}}.\n')
    (folder / "broken.md").write_text("Answer {{Question}}")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_values_are_data(package: str) -> None:
    prompt = Prompt.load(package, "prompts/answer.md", tokens={"question", "passages"})
    assert prompt.render(question="{{passages}}", passages="{{question}} \\1") == (
        'Answer {{passages}} from {{question}} \\1 as {"a": {"b": 1}}.'
    )


def test_tokens_must_match_when_loaded(package: str) -> None:
    with pytest.raises(PromptInvalid, match=r"missing \['passages'\], unknown \['history'\]"):
        Prompt.load(package, "prompts/answer.md", tokens={"question", "history"})


def test_tokens_must_match_when_rendered(package: str) -> None:
    prompt = Prompt.load(package, "prompts/answer.md")
    with pytest.raises(PromptInvalid, match="passages"):
        prompt.render(question="q")
    with pytest.raises(PromptInvalid, match="history"):
        prompt.render(question="q", passages="p", history="h")


def test_a_misspelt_placeholder_is_refused(package: str) -> None:
    with pytest.raises(PromptInvalid, match=r"broken\.md"):
        Prompt.load(package, "broken.md")
