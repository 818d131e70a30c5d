"""Each prompt exists once: in its file, not in code. Files that nothing uses fail where they are loaded."""

from __future__ import annotations

from api_calls import REPOSITORY

SHORTEST = 40  # characters of a line that could not be the same by chance


def test_no_prompt_is_repeated_in_code() -> None:
    sources = [folder for part in ("services", "libs") for folder in (REPOSITORY / part).glob("*/src")]
    prompts = {file: file.read_text("utf-8") for folder in sources for file in folder.rglob("prompts/**/*.md")}
    code = {file: file.read_text("utf-8") for folder in sources for file in folder.rglob("*.py")}
    lines = [(file, line) for file, text in prompts.items() for line in text.splitlines() if len(line) >= SHORTEST]
    repeated = [(file.name, other.name, line) for file, line in lines for other, text in code.items() if line in text]
    assert len(set(prompts.values())) == len(prompts) > 20
    assert repeated == []
