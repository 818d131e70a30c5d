from pathlib import Path

import pytest

from inference.errors import PromptInvalid
from inference.prompts import Prompt, load_prompts

TEXT = 'Answer <<QUESTION>> from <<PASSAGES>> as {"a": {{"b": 1}}} with x < y.\n'
WANTED = {"answer.md": ("question", "passages"), "parts/how.md": ()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / f"prompts_of_{tmp_path.name}"
    (folder / "parts").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "answer.md").write_text(TEXT)
    (folder / "parts" / "how.md").write_text("Briefly.")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_values_are_inserted_as_data(folder: Path) -> None:
    prompt = load_prompts(folder.name, WANTED)["answer.md"]
    assert prompt.render(question="<<PASSAGES>>", passages="<<QUESTION>> \\1") == (
        'Answer <<PASSAGES>> from <<QUESTION>> \\1 as {"a": {{"b": 1}}} with x < y.'
    )


def test_missing_files_unused_files_and_wrong_placeholders_are_reported_together(folder: Path) -> None:
    (folder / "left_over.md").write_text("Nobody reads this.")
    wanted = {"answer.md": ("question", "history"), "parts/how.md": (), "gone.md": ()}
    with pytest.raises(PromptInvalid) as raised:
        load_prompts(folder.name, wanted)
    for message in ("missing gone.md", "unused left_over.md", "answer.md: missing ['passages'], unknown ['history']"):
        assert message in str(raised.value)


def test_placeholders_must_match_the_values_when_rendered() -> None:
    prompt = Prompt.parse("answer.md", TEXT)
    with pytest.raises(PromptInvalid, match="passages"):
        prompt.render(question="q")
    with pytest.raises(PromptInvalid, match="history"):
        prompt.render(question="q", passages="p", history="h")


@pytest.mark.parametrize("text", ["Answer <<Question>>", "Answer <<QUESTION", "Answer QUESTION>>", "<< QUESTION >>"])
def test_a_misspelt_placeholder_is_refused(text: str) -> None:
    with pytest.raises(PromptInvalid, match=r"broken\.md"):
        Prompt.parse("broken.md", text)
