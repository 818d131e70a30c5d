"""Glob patterns as in .gitignore, matched in time linear in the length of the path.

Each becomes a regular expression with atomic groups: the text between two wildcards matches at its first occurrence,
which is always correct, and later failures never backtrack into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ANYTHING = "(?s:.)"
IN_A_FOLDER = "[^/]*+(?P<below>/)"
WHOLE_SEGMENT = "[^/]++"
SEGMENT_END = r"(?=/|\Z)"
# The group `below` is set if the pattern matches a parent folder of the path instead of the path itself.
HERE_OR_BELOW = r"(?:(?P<below>/)|\Z)"


class GlobInvalid(ValueError):
    """The pattern is invalid. The message is part of a sentence."""


@dataclass(frozen=True)
class Glob:
    """A pattern. `takes` is False if it begins with `!`, which drops paths that earlier patterns took."""

    regex: re.Pattern[str]
    takes: bool


class Globs:
    """Patterns, of which the last match decides; a match of the path itself overrides a match of a parent folder.

    Raises GlobInvalid.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.globs = [glob for glob in map(parse, patterns) if glob is not None]

    def __bool__(self) -> bool:
        return bool(self.globs)

    def match(self, path: str) -> bool:
        """Returns whether the path is taken; the path of a folder ends with a slash."""
        path = path[1:] if path.startswith("/") else path.removeprefix("./")
        of_folder: bool | None = None
        for glob in reversed(self.globs):
            found = glob.regex.match(path)
            if found is None:
                continue
            if found.lastgroup is None:
                return glob.takes
            of_folder = glob.takes if of_folder is None else of_folder
        return bool(of_folder)


def parse(pattern: str) -> Glob | None:
    """Parses a pattern; returns None for a comment, a blank line, a lone slash and, like git, an unclosed bracket."""
    text = pattern if pattern.endswith("\\ ") else pattern.rstrip()
    if not text or text.startswith("#") or text == "/":
        return None
    takes = not text.startswith("!")
    regex = _translated(text if takes else text[1:], pattern)
    try:
        return None if regex is None else Glob(re.compile(regex), takes)
    except re.error as error:
        raise GlobInvalid(f"the pattern {pattern!r} is not valid: {error}") from error


def _translated(text: str, pattern: str) -> str | None:
    segments = text.split("/")
    if segments == [""]:
        raise GlobInvalid(f"the pattern {pattern!r} names nothing")
    names_folder = segments[-1] == ""
    if not segments[0]:
        del segments[0]
    elif len(segments) == 1 or segments[1:] == [""]:
        segments.insert(0, "**")
    if not segments[-1]:
        segments[-1] = "**"
    kept = [one for number, one in enumerate(segments) if one != "**" or segments[number - 1 : number] != ["**"]]
    if names_folder and kept in (["**"], ["**", "*", "**"]):
        return IN_A_FOLDER
    if kept in (["**"], ["**", "*"]):
        return ANYTHING
    try:
        return _joined(kept, names_folder)
    except _Unclosed:
        return None
    except IndexError:
        raise GlobInvalid(f"the pattern {pattern!r} ends with a backslash") from None


def _joined(segments: list[str], names_folder: bool) -> str:
    """Joins the translated segments; `**` stands for any number of folders."""
    last_is_any = segments[-1] == "**"
    parts = list(_parts(segments[:-1] if last_is_any else segments))
    regex = "".join(_found_first(follows_any, f"{part}/") for follows_any, part in parts[:-1])
    follows_any, part = parts[-1]
    if last_is_any:
        return regex + _found_first(follows_any, part + ("(?P<below>/)" if names_folder else "/"))
    if not follows_any:
        return regex + part + HERE_OR_BELOW
    # A match of the path itself is preferred to a match of a parent folder.
    here = _found_first(True, rf"{part}\Z")
    below = _found_first(True, f"{part}(?P<below>/)")
    return f"{regex}(?:{here}|{below})"


def _parts(segments: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yields the parts between `**`, each as (whether it follows one, translated segments)."""
    follows_any, part = False, list[str]()
    for segment in segments:
        if segment != "**":
            part.append(_segment(segment))
            continue
        if part:
            yield follows_any, "/".join(part)
        follows_any, part = True, []
    if part:
        yield follows_any, "/".join(part)


def _found_first(follows_any: bool, part: str) -> str:
    return f"(?>(?:[^/]*+/)*?{part})" if follows_any else part


def _segment(glob: str) -> str:
    if glob == "*":
        return WHOLE_SEGMENT
    first, *others = _pieces(glob)
    if not others:
        return first
    *between, last = others
    found = "".join(f"(?>[^/]*?{piece})" for piece in between if piece)
    return f"{first}{found}(?>[^/]*?{last}{SEGMENT_END})"


def _pieces(glob: str) -> list[str]:
    """Returns the translated pieces between stars; each of their elements matches one character of a path."""
    pieces, at = [""], 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif char == "[":
            end = _closing(glob, at)
            pieces[-1] += _bracket(glob[at:end])
            at = end + 1
        else:
            if char == "\\":
                char = glob[at]
                at += 1
            pieces[-1] += re.escape(char)
    return pieces


class _Unclosed(Exception):
    """A bracket is not closed."""


def _closing(glob: str, at: int) -> int:
    """Returns where the bracket opened before `at` closes; a `]` right after the opening is a member."""
    first = at + 1 if glob[at : at + 1] in {"!", "^"} else at
    end = glob.find("]", first + 1 if glob[first : first + 1] == "]" else first)
    if end < 0:
        raise _Unclosed
    return end


def _bracket(members: str) -> str:
    negated = members[:1] in {"!", "^"}
    listed = re.sub(r"[\\\[&~|]", r"\\\g<0>", members[1:] if negated else members)
    return f"(?!/)[{'^' if negated else ''}{listed}]"
