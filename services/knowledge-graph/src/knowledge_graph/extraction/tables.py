"""Finds relations and names in tables: the header says what a column holds, the row which thing is meant.

Only headers in a short list count, wherever their column is. A cell must contain only names, separated by commas:
"UserDB (until May)" and "all but UserDB" state nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge_graph.extraction.full_names import EVIDENT, FULL_NAME
from knowledge_graph.extraction.identifiers import kind_of
from knowledge_graph.extraction.names import PARTS, is_generic, is_name
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.relation_phrases import LISTED, StatedRelation
from knowledge_graph.extraction.table_headers import CONSUMERS, KIND_OF_ROW, RANKS, ROLES, TYPES, ColumnRole, header_key
from knowledge_graph.extraction.word_lists import equations, phrases, words

RULE = re.compile(r"\|[ \t:|-]+")
EDGE = re.compile(r"(?<!\\)\|")
SEPARATOR = re.compile(r"[,;]|<br ?/?>|(?<!\w)(?:and|und)(?!\w)")
BEFORE_NAME = re.compile(r"[\s`*_\[]*+(?:the [\s`*_\[]*+)?", re.IGNORECASE)
AFTER_NAME = re.compile(r"/?[\s`*_]*+(?:\]\([^()\s]*+\)[\s`*_]*+)?")
COMMA = re.compile(r"[,;]|<br ?/?>")
WHOLE_NAME = re.compile(
    rf"{BEFORE_NAME.pattern}"
    r"([^\W\d_][\w.&’'-]{1,60}+|[A-ZÄÖÜ][\w.&’'-]{0,60}+(?: (?:(?:of|for|the) )?[A-ZÄÖÜ\d][\w.&’'-]{0,60}+){1,4})"
    rf"{AFTER_NAME.pattern}",
)
NO_NAMES = words("empty_cells")
REMARKS = frozenset(header for line in phrases("remark_headers") for header in line.split(", "))
OWNS = "OWNS"
OF_OWNERS = frozenset({OWNS, "MAINTAINS"})
NOUNS = frozenset(noun for nouns, _ in equations("system_nouns", ",") for noun in nouns)
PERSONAL = phrases("personal_headers")
OF_ANY_THING = frozenset({"name", ""})
MEMBER = ColumnRole(can_be_thing=False, relation_type="PART_OF", reverse=False)

Place = tuple[int, int]


@dataclass(frozen=True)
class Columns:
    """The column of the rows' things, and the columns of relations with their headers and roles."""

    thing: int
    relations: list[tuple[int, str, ColumnRole]]
    of_people: bool = False


def statements(text: str, spans: Sequence[Span]) -> Iterator[StatedRelation]:
    """Yields a relation for each name in a column of relations; the evidence is the row.

    `spans` are sorted and do not overlap.
    """
    for row, columns in _rows(text):
        yield from _of_row(text, spans, row, columns)


def names(text: str) -> Iterator[Span]:
    """Yields the names in rows of such tables, including ordinary words: "payments", "Zahlung"."""
    for row, columns in _rows(text):
        cells = dict(enumerate(_cells(text, *row)))
        things = list(_listed(text, cells.get(columns.thing)))
        others = [
            span
            for column, header, _ in columns.relations
            for span in _listed(text, cells.get(column), TYPES.get(header_key(header)))
        ]
        if things and others:
            yield from things
            yield from others
    for row, header, _ in _rows_of_section(text):
        yield from _listed(text, _cells(text, *row)[0], TYPES.get(header_key(header)))


def of_section(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """Yields what a table states about the thing of its section ("Calls | For"), as fields do: the first column names
    the related things, the others only add details."""
    for row, header, role in _rows_of_section(text):
        for place in _names(text, spans, _cells(text, *row)[0]):
            yield StatedRelation(-1, place, role.relation_type, LISTED, *row, header), role.reverse


def _rows_of_section(text: str) -> Iterator[tuple[Place, str, ColumnRole]]:
    for row, headers in _headed_rows(text):
        keys = [header_key(header) for header in headers]
        role = ROLES.get(keys[0])
        is_free = role is None or role.can_be_thing or role.of_consumer or role.relation_type in OF_OWNERS
        if role is not None and not is_free and REMARKS.issuperset(keys[1:]):
            yield row, " ".join(headers[0].split()), role


def owners(text: str) -> Iterator[str]:
    """Yields the names in columns of owners."""
    for row, columns in _rows(text):
        cells = dict(enumerate(_cells(text, *row)))
        for column, _, role in columns.relations:
            if role.relation_type == OWNS and role.reverse:
                yield from (span.surface for span in _listed(text, cells.get(column)))


def types(text: str) -> Iterator[tuple[str, str]]:
    """Yields names with the types that headers give them, also by a column that states the type of each row."""
    for row, headers in _headed_rows(text):
        cells = _cells(text, *row)
        keys = [header_key(header) for header in headers]
        for key, cell in zip(keys, cells, strict=False):
            found = TYPES.get(key)
            if found is not None and found != KIND_OF_ROW:
                yield from ((span.surface, found) for span in _listed(text, cell))
            elif found is None and key in ROLES and ROLES[key].relation_type == OWNS and ROLES[key].reverse:
                yield from ((span.surface, "TEAM") for span in _listed(text, cell) if _is_no_person(span.surface))
        kind = next(
            (text[slice(*cell)] for key, cell in zip(keys, cells, strict=False) if TYPES.get(key) == KIND_OF_ROW), ""
        )
        if _is_of_people(keys):
            yield from (
                (span.surface, "PERSON") for span in _listed(text, cells[0]) if FULL_NAME.fullmatch(span.surface)
            )
            continue
        columns = _columns(headers)
        found = PARTS.get(" ".join(kind.split()).casefold())
        if found is not None and columns is not None and columns.thing < len(cells):
            role = ROLES.get(keys[columns.thing])
            if role is None or role.relation_type != OWNS:
                yield from ((span.surface, found) for span in _listed(text, cells[columns.thing]))


def _rows(text: str) -> Iterator[tuple[Place, Columns]]:
    """Yields the rows of tables whose headers name a relation."""
    for row, headers in _headed_rows(text):
        columns = _columns(headers)
        if columns is not None:
            yield row, columns


def _headed_rows(text: str) -> Iterator[tuple[Place, list[str]]]:
    """Yields the rows of tables, with the column headers."""
    headers = list[str]()
    lines = list(_lines(text))
    for number, (start, end) in enumerate(lines):
        is_row = text.startswith("|", start, end)
        if not is_row:
            headers = []
        elif number + 1 < len(lines) and RULE.fullmatch(text, *lines[number + 1]):
            # Also checked below the rows of another table.
            headers = [text[slice(*cell)] for cell in _cells(text, start, end)]
        elif headers and not RULE.fullmatch(text, start, end):
            yield (start, end), headers


def _listed(text: str, cell: Place | None, entity_type: str | None = None) -> Iterator[Span]:
    """Yields the names in the cell; everything in a column of teams is a team, whatever the word means elsewhere."""
    is_team = entity_type == "TEAM"
    start, end = cell or (0, 0)
    for begin, following in [*(match.span() for match in COMMA.finditer(text, start, end)), (end, end)]:
        match = WHOLE_NAME.fullmatch(text, start, begin)
        if match is not None:
            name = match.group(1)
            folded = name.casefold().split()
            if is_name(name) and (is_team or not is_generic(folded)) and not NO_NAMES.issuperset(folded):
                kind = "TEAM" if is_team else kind_of(name) if name.islower() else "ENTITY"
                yield Span(*match.span(1), name, kind)
        start = following


def _of_row(text: str, spans: Sequence[Span], row: Place, columns: Columns) -> Iterator[StatedRelation]:
    cells = _cells(text, *row)
    things = _names(text, spans, cells[columns.thing]) if columns.thing < len(cells) else []
    if columns.of_people:
        things = [thing for thing in things if _may_be_person(spans[thing])]
    for column, header, role in columns.relations:
        if column < len(cells):
            for target in _names(text, spans, cells[column]):
                for thing in things:
                    ends = (target, thing) if role.reverse else (thing, target)
                    yield StatedRelation(*ends, role.relation_type, LISTED, *row, header)


def _columns(headers: Sequence[str]) -> Columns | None:
    """Returns the columns; None if no header names a relation, or if it is unclear what the rows are about."""
    keys = [header_key(header) for header in headers]
    known = [(place, ROLES[key]) for place, key in enumerate(keys) if key in ROLES]
    if _is_of_people(keys):
        return _of_people(headers, keys)
    things = [place for place, role in known if not role.relation_type] or [
        place for place, key in enumerate(keys) if not key
    ]
    if not things:
        possible = sorted((RANKS[keys[place]], place) for place, role in known if role.can_be_thing)
        things = [place for rank, place in possible if rank == possible[0][0]]
    if len(things) != 1:
        return None
    thing = ROLES.get(keys[things[0]])
    # A team owns and maintains; the other columns do not say that it is used, or is a part of something.
    is_owner = thing is not None and thing.relation_type == OWNS
    is_consumer = keys[things[0]] in CONSUMERS
    relations = [
        (place, " ".join(headers[place].split()), role)
        for place, role in known
        if place not in things
        and (is_consumer or not role.of_consumer)
        and (not is_owner or role.relation_type in OF_OWNERS)
    ]
    return Columns(things[0], relations) if relations else None


def _is_of_people(keys: Sequence[str]) -> bool:
    """Returns whether each row is about the person in its first column."""
    is_named = keys[0] in OF_ANY_THING and any(key in PERSONAL for key in keys)
    is_other = any(key in ROLES and not ROLES[key].relation_type for key in keys[1:])
    return (is_named or TYPES.get(keys[0]) == "PERSON") and not is_other


def _is_no_person(owner: str) -> bool:
    """Returns whether the owner's last word is that of a thing or an abbreviation: "Integration Hub", "Clinical IT"."""
    last = owner.rpartition(" ")[2]
    return last.casefold() in NOUNS or (" " in owner and last.isupper())


def _may_be_person(span: Span) -> bool:
    return span.entity_type not in EVIDENT and FULL_NAME.fullmatch(span.surface) is not None


def _of_people(headers: Sequence[str], keys: Sequence[str]) -> Columns | None:
    """Returns the columns of teams, which people are in and are not owned by, and of what people own."""
    relations = [
        (place, " ".join(headers[place].split()), MEMBER if TYPES.get(key) == "TEAM" else ROLES[key])
        for place, key in enumerate(keys)
        if TYPES.get(key) == "TEAM" or (key in ROLES and ROLES[key].relation_type == OWNS and not ROLES[key].reverse)
    ]
    return Columns(0, relations, of_people=True) if relations else None


def _lines(text: str) -> Iterator[Place]:
    """Yields the lines without surrounding space."""
    start = 0
    for line in text.split("\n"):
        yield start + len(line) - len(line.lstrip()), start + len(line.rstrip())
        start += len(line) + 1


def _cells(text: str, start: int, end: int) -> list[Place]:
    """Returns the cells between the edges of a row; the last edge may be missing."""
    edges = [match.start() for match in EDGE.finditer(text, start, end)]
    if edges[-1] < end - 1:
        edges.append(end)
    return [(left + 1, right) for left, right in pairwise(edges)]


def _names(text: str, spans: Sequence[Span], cell: Place) -> list[int]:
    """Returns the indices in `spans` of the names in the cell; parts that are more or less than a name do not count."""
    start, end = cell
    found = []
    for begin, following in [*(match.span() for match in SEPARATOR.finditer(text, start, end)), (end, end)]:
        last = bisect_left(spans, begin, key=lambda span: span.start) - 1
        if last >= 0 and spans[last].end > begin:
            continue  # "Department of Health and Human Services" is one name
        if last >= 0 and start <= spans[last].start and _is_all(text, (start, begin), spans[last]):
            found.append(last)
        start = following
    return found


def _is_all(text: str, part: Place, span: Span) -> bool:
    before, after = BEFORE_NAME.fullmatch(text, part[0], span.start), AFTER_NAME.fullmatch(text, span.end, part[1])
    return before is not None and after is not None
