"""Glob patterns mean the same as in .gitignore, and none takes long."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from security.patterns import Found
from security.slow_patterns import allowed_seconds, slow_texts

from ingestion.sources.globs import GlobInvalid, Globs, parse
from ingestion.sources.selection import Selection

PIECES = [
    "a",
    "b",
    "*",
    "**",
    "?",
    "/",
    "/",
    "**/",
    "/**",
    ".",
    "[ab]",
    "[!a]",
    "[b-a]",
    "\\*",
    "\\a",
    "!",
    "#",
    " ",
    "[",
    "]",
]
PATTERNS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
SEGMENTS = st.text(alphabet="ab.*! #]", min_size=1, max_size=4)
PATHS = st.builds("{}{}".format, st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join), st.sampled_from(["", "/"]))


def _by_the_library(patterns: list[str], path: str) -> bool | None:
    """Returns the result of the pathspec library, whose regular expressions backtrack; None for an invalid pattern."""
    try:
        return GitIgnoreSpec.from_lines(patterns, backend="simple").match_file(path)
    except (GitIgnorePatternError, re.error):
        return None
    except FutureWarning:  # it does not escape a bracket in a bracket
        reject()


@settings(max_examples=1500, deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=3), PATHS)
def test_patterns_match_as_in_gitignore(patterns: list[str], path: str) -> None:
    # In pathspec a negated bracket also matches a slash, unlike in git.
    assume(not ("[!" in "".join(patterns) and "/" in path))
    expected = _by_the_library(patterns, path)
    if expected is None:
        with pytest.raises(GlobInvalid):
            Globs(patterns)
    else:
        assert Globs(patterns).match(path) is expected, (patterns, path)


def test_a_negated_bracket_matches_no_slash() -> None:
    assert Globs(["x[!a]y"]).match("xby")
    assert not Globs(["x[!a]y"]).match("x/y")


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 11 + "*b",
        "*a" * 200 + "*b",
        "**/a" * 100 + "/b",
        "a/**/" * 80 + "b/",
        "?*" * 200 + "b",
        "*[ab]" * 90 + "c",
        "**/*a*/**/*b*/**/" * 20 + "c",
    ],
)
def test_every_pattern_matches_in_linear_time(pattern: str) -> None:
    """Regression: eleven stars took a minute on a path of 36 letters, and blocked every thread of the worker."""
    glob = parse(pattern)
    assert glob is not None
    assert not slow_texts(Found(pattern, glob.regex, frozenset({"match"})), allowed_seconds(pattern))


def test_a_pattern_may_have_any_number_of_wildcards() -> None:
    assert Selection(["a*" * 20 + ".md"], []).wants("a" * 20 + ".md")
