"""Glob patterns as in .gitignore, matched in time that grows with the length of the path alone.

Each becomes a regular expression whose groups are atomic: what lies between two wildcards is taken where it is found
first, which is never wrong, and no later failure makes it be looked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ANYTHING = "(?s:.)"
IN_A_FOLDER = "[^/]*+(?P<below>/)"
WHOLE_SEGMENT = "[^/]++"
SEGMENT_END = r"(?=/|\Z)"
# The group `below` is set where the pattern names a folder on the way to the path, not the path itself.
HERE_OR_BELOW = r"(?:(?P<below>/)|\Z)"


class GlobInvalid(ValueError):
    """The message is a part of a sentence."""


@dataclass(frozen=True)
class Glob:
    """`takes` is False for a pattern that begins with an exclamation mark: it lets go what earlier ones took."""

    regex: re.Pattern[str]
    takes: bool


class Globs:
    """Patterns of which the last that matches decides; one that names the path comes before one that names a folder.

    Raises GlobInvalid.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.globs = [glob for glob in map(parse, patterns) if glob is not None]

    def __bool__(self) -> bool:
        return bool(self.globs)

    def match(self, path: str) -> bool:
        """Returns whether the path is taken; a folder's ends with a slash."""
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
    """Returns None for a comment, a blank line, a single slash and, as git does, an unclosed bracket."""
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
    # The path itself is preferred to a folder on the way to it.
    here = _found_first(True, rf"{part}\Z")
    below = _found_first(True, f"{part}(?P<below>/)")
    return f"{regex}(?:{here}|{below})"


def _parts(segments: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yields what stands between `**`: whether one is before it, and its translated segments."""
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
    """Returns what stands between stars, translated: each character of a path is matched by one of the piece."""
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
    """Returns where the bracket closes that was opened before `at`; a closing one that stands first is a member."""
    first = at + 1 if glob[at : at + 1] in {"!", "^"} else at
    end = glob.find("]", first + 1 if glob[first : first + 1] == "]" else first)
    if end < 0:
        raise _Unclosed
    return end


def _bracket(members: str) -> str:
    negated = members[:1] in {"!", "^"}
    listed = re.sub(r"[\\\[&~|]", r"\\\g<0>", members[1:] if negated else members)
    return f"(?!/)[{'^' if negated else ''}{listed}]"
