"""The rule about quantifiers finds the patterns that it is meant for."""

from __future__ import annotations

from pathlib import Path

import pytest

from security.lint_patterns import BUILT, NESTED, faults, main


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (r"x = re.compile(r'(?:\s+|%[^\n]*\n)*')", [NESTED]),
        (r"x = re.compile(rb'(?:#\S+[\s,]*)+')", [NESTED]),
        (r"x = re.compile(r'(?:\s++|%[^\n]*+\n)*')", []),
        (r"x = re.compile(r'(?:a{1,9})*b+')", []),
        ("def f(text):\n    return re.match(text, 'x')", [BUILT]),
        ("def f(text):\n    return re.search(rf'(?<!a){text}', 'x')", [BUILT]),
        ("def f(text):\n    return re.search(rf'(?<!a){re.escape(text)}' + WORD, 'x')", []),
    ],
)
def test_unsafe_pattern_forms_are_refused(line: str, found: list[str], tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(f"import re\n\n{line}\n")
    assert [what for _, what in faults(file)] == found


def test_the_product_contains_no_unsafe_pattern() -> None:
    assert main() == 0
