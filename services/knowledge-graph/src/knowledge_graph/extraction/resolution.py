"""Finds which names of a document are the same: short forms, abbreviations, plurals, honorifics, adjectives of places.

Pure, and independent of the order of the names. A short form is resolved only if the document has exactly one name that
it can stand for; "Lothair" stays open if both Lothair I and Lothair II occur.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from knowledge_graph.extraction.full_names import EVIDENT, FullNames, Uses, folded
from knowledge_graph.extraction.names import SYNONYMS, is_generic, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.short_forms import HONORIFICS, REGNAL, Named
from knowledge_graph.extraction.word_lists import equations

ADJECTIVES = {name_key(spelling): name_key(place) for spellings, place in equations("places") for spelling in spellings}
PLACES = frozenset(name_key(place) for _, place in equations("places"))
SYSTEMS = EVIDENT - {"TEAM", "DOCUMENT_ID", "PLACE"}
EXACT = EVIDENT | {"IDENTIFIER", "CONCEPT"}
"""Types whose names have no short forms."""
PLURAL_TYPES = frozenset({"NORP", "SERVICE", "STORE", "IDENTIFIER", "CONCEPT", "ENTITY", "LOC"})


@dataclass(frozen=True)
class Resolution:
    """The resolved names of a document. `targets` has only keys that were resolved; `types` the type of each resolved
    name; `generic` the keys that name nothing; `ambiguous` the short forms, each with the resolved names that it could
    stand for."""

    targets: Mapping[str, str]
    types: Mapping[str, str]
    generic: frozenset[str]
    ambiguous: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def key(self, surface: str) -> str:
        """Returns the key of the name that the surface means in this document."""
        key = name_key(surface)
        return self.targets.get(key, key)

    def entity_type(self, surface: str, otherwise: str) -> str:
        """Returns the type of most of the name's mentions."""
        return self.types.get(self.key(surface), otherwise)


def with_types(resolution: Resolution, stated: Mapping[str, str]) -> Resolution:
    """Returns the resolution with the types that the document states for its names."""
    types = {resolution.targets.get(key, key): entity_type for key, entity_type in sorted(stated.items())}
    return replace(resolution, types={**resolution.types, **types})


NOTHING = Resolution({}, {}, frozenset())


def resolve(spans: Iterable[Span], stated: Iterable[tuple[str, str]] = ()) -> Resolution:
    """Resolves all names of the document (`spans`); `stated` pairs each alias with its name, as stated in the text."""
    uses = _uses(spans)
    targets = {spelling: name for spelling, name in _synonyms().items() if spelling in uses}
    for alias, name in sorted(stated, reverse=True):
        targets[name_key(alias)] = name_key(name)
    full = FullNames(uses, dict(targets))
    for key, use in sorted(uses.items()):
        if key not in targets:
            found = (
                _spelled_out(use, uses)
                or _plural(key, use, uses)
                or _adjective(key, uses)
                or _titled(key, use, full)
                or _short(key, use, full)
            )
            if found is not None:
                targets[key] = found
    chased = {key: _chase(key, targets) for key in targets}
    resolved = {key: target for key, target in chased.items() if key != target}
    ties = {key: sorted({resolved.get(one, one) for one in names} - {key}) for key, names in full.ties.items()}
    several = {key: names for key, names in sorted(ties.items()) if key not in targets and len(names) > 1}
    return Resolution(resolved, _types(uses, resolved), _generic(uses, resolved), several)


def _uses(spans: Iterable[Span]) -> dict[str, Uses]:
    uses: dict[str, Uses] = {}
    for span in spans:
        key, parts = name_key(span.surface), folded(span.surface)
        use = uses.setdefault(key, Uses(parts))
        use.words = max(use.words, parts, key=lambda one: (len(one), one))
        use.types[span.entity_type] += 1
    return uses


def _synonyms() -> dict[str, str]:
    return {name_key(spelling): name_key(name) for spelling, name in SYNONYMS.items()}


def _spelled_out(use: Uses, uses: Mapping[str, Uses]) -> str | None:
    """Resolves "U.S. Navy" if the document names the United States Navy."""
    for spelling, name in SYNONYMS.items():
        short = folded(spelling)
        if len(use.words) > len(short) and use.words[: len(short)] == short:
            key = name_key(name) + "".join(use.words[len(short) :])
            return key if key in uses else None
    return None


def _plural(key: str, use: Uses, uses: Mapping[str, Uses]) -> str | None:
    single = key[:-3] + "y" if key.endswith("ies") else key[:-1]
    is_plural = key.endswith("s") and single in uses and use.entity_type in PLURAL_TYPES
    return single if is_plural and len(single) > 3 and uses[single].entity_type != "PERSON" else None


def _adjective(key: str, uses: Mapping[str, Uses]) -> str | None:
    """Resolves "Portuguese" if the document names Portugal."""
    place = ADJECTIVES.get(key)
    return place if place in uses else None


def _titled(key: str, use: Uses, full: FullNames) -> str | None:
    """Resolves "King Lothair II" to Lothair II: honorifics are dropped while two words of a person's name are left."""
    bare = use.words
    while len(bare) > 1 and bare[0] in HONORIFICS:
        bare = bare[1:]
    short = "".join(bare)
    is_king = len(bare) > 1 and REGNAL.match(bare[-1]) is not None
    if bare == use.words or not (use.entity_type == "PERSON" or is_king or short in full.uses):
        return None
    if len(bare) > 1:
        return short
    is_person = short in full.uses and full.uses[short].entity_type in {"PERSON", "ENTITY"}
    return short if is_person else full.only(Named(bare, "PERSON"), key)


def _short(key: str, use: Uses, full: FullNames) -> str | None:
    if use.entity_type in EXACT or key in PLACES or key in ADJECTIVES:
        return None
    if len(use.words) == 1 and (found := full.spelled_out(key)):
        return found
    return full.only(Named(use.words, use.entity_type), key)


def _chase(key: str, targets: Mapping[str, str]) -> str:
    """Follows the chain to its end; a cycle ends at its smallest key."""
    seen = [key]
    while (step := targets.get(seen[-1])) is not None:
        if step in seen:
            return min(seen[seen.index(step) :])
        seen.append(step)
    return seen[-1]


def _types(uses: Mapping[str, Uses], targets: Mapping[str, str]) -> dict[str, str]:
    votes: dict[str, Uses] = defaultdict(lambda: Uses(()))
    for key, use in uses.items():
        if key not in ADJECTIVES:
            votes[targets.get(key, key)].types += use.types
    return {key: use.entity_type for key, use in votes.items()}


def _generic(uses: Mapping[str, Uses], targets: Mapping[str, str]) -> frozenset[str]:
    """Returns keys that stand for no name of the document and name no place or person: "Board", "Prime Minister"."""
    return frozenset(
        key
        for key, use in uses.items()
        if key not in targets and use.entity_type not in EXACT | {"GPE", "DOCUMENT"} and is_generic(use.words)
    )
