"""Words the answer to a structural question in the question's language. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.graph_tools import AnswerRow

MOST_NAMED = 30
OPENING = frozenset(["dependents", "impact", "references", "parts"])
TIMES = ("past", "planned", "negated")
DATED = {"past": "until", "planned": "from"}
SPOILS_MARKERS = str.maketrans("", "", "[]【】`*")
KINDS = {
    "en": {
        "SERVICE": ("service", "services"),
        "PROJECT": ("project", "projects"),
        "TEAM": ("team", "teams"),
        "STORE": ("data store", "data stores"),
        "LIBRARY": ("library", "libraries"),
        "TABLE": ("table", "tables"),
        "PERSON": ("person", "people"),
        "": ("thing", "things"),
    },
    "de": {
        "SERVICE": ("Dienst", "Dienste"),
        "PROJECT": ("Projekt", "Projekte"),
        "TEAM": ("Team", "Teams"),
        "STORE": ("Datenspeicher", "Datenspeicher"),
        "LIBRARY": ("Bibliothek", "Bibliotheken"),
        "TABLE": ("Tabelle", "Tabellen"),
        "PERSON": ("Person", "Personen"),
        "": ("Stelle", "Stellen"),
    },
}
# By language and question; a plural form follows the singular if they differ.
SENTENCES = {
    "en": {
        "dependents": ("{n} {kinds} depends {how} on {name}", "{n} {kinds} depend {how} on {name}"),
        "dependencies": ("{name} depends {how} on {n} {kinds}",) * 2,
        "impact": ("If {name} is down, {n} {kinds} is affected", "If {name} is down, {n} {kinds} are affected"),
        "references": ("{n} {kinds} references {name}", "{n} {kinds} reference {name}"),
        "parts": ("{n} {kinds} is part of {name}", "{n} {kinds} are part of {name}"),
        "wholes": ("{name} is part of {n} {kinds}",) * 2,
        "owner": ("{name} is owned by {rows}.",) * 2,
        "maintained": ("No document states who owns {name}; it is maintained by {rows}.",) * 2,
        "oncall": ("No document states who is on call for {name}. It is owned by {rows}.",) * 2,
        "owned": ("{name} owns {n} {kinds}",) * 2,
        "decided": ("{name} was decided by {rows}.",) * 2,
        "kind": ("Type of {name}: {kind}.",) * 2,
        "needs": ("Depends on: {rows}.",) * 2,
        "needed": ("Needed by: {rows}.",) * 2,
        "owners": ("Owned by: {rows}.",) * 2,
        "members": ("In {name}: {rows}.",) * 2,
        "no_members": ("I found nobody in {name}.",) * 2,
        "reach": ("{name} depends on {other}",) * 2,
        "indirect": ("{name} depends on {other} indirectly",) * 2,
        "direct_only": ("Of a direct dependency:",) * 2,
        "reversed": ("No document states that {name} depends on {other}, but {other} depends on {name}",) * 2,
        "path": ("{name} and {other} are connected",) * 2,
        "cycle": ("{name} is part of a circular dependency", "{name} is part of {n} circular dependencies"),
        "direct": ("directly",) * 2,
        "far": ("directly or indirectly",) * 2,
        "directly": ("Directly: {rows}.",) * 2,
        "indirectly": ("Indirectly: {rows}.",) * 2,
        "through": ("through {via}",) * 2,
        "none": ("no",) * 2,
        "others": ("Of other kinds: {rows}.",) * 2,
        "more": ("and {n} more",) * 2,
        "past": ("Formerly: {rows}.",) * 2,
        "planned": ("Planned: {rows}.",) * 2,
        "negated": ("Denied: {rows}.",) * 2,
        "disputed": ("Stated otherwise elsewhere: {rows}.",) * 2,
        "today": ("No document states this of {name} today.",) * 2,
        "until": ("until {dated}",) * 2,
        "from": ("from {dated}",) * 2,
        "dependents_past": ("Formerly dependent on {name}: {rows}.",) * 2,
        "dependencies_past": ("{name} formerly depended on {rows}.",) * 2,
        "owner_past": ("{name} was formerly owned by {rows}.",) * 2,
        "dependents_planned": ("Planned to depend on {name}: {rows}.",) * 2,
        "dependencies_planned": ("It is planned that {name} depends on {rows}.",) * 2,
        "owner_planned": ("It is planned that {name} is owned by {rows}.",) * 2,
        "and": ("and",) * 2,
    },
    "de": {
        "dependents": ("{n} {kinds} hängt {how} von {name} ab", "{n} {kinds} hängen {how} von {name} ab"),
        "dependencies": ("{name} braucht {how} {n} {kinds}",) * 2,
        "impact": (
            "Fällt {name} aus, ist {n} {kinds} betroffen",
            "Fällt {name} aus, sind {n} {kinds} betroffen",
        ),
        "references": ("{n} {kinds} verweist auf {name}", "{n} {kinds} verweisen auf {name}"),
        "parts": ("{n} {kinds} ist Teil von {name}", "{n} {kinds} sind Teil von {name}"),
        "wholes": ("{name} ist Teil von {n} {kinds}",) * 2,
        "owner": ("{name} gehört {rows}.",) * 2,
        "maintained": ("Kein Dokument sagt, wem {name} gehört; betreut von: {rows}.",) * 2,
        "oncall": ("Kein Dokument sagt, wer für {name} Bereitschaft hat. Zuständig: {rows}.",) * 2,
        "owned": ("{name} besitzt {n} {kinds}",) * 2,
        "decided": ("{name} wurde entschieden von {rows}.",) * 2,
        "kind": ("Art von {name}: {kind}.",) * 2,
        "needs": ("Hängt ab von: {rows}.",) * 2,
        "needed": ("Gebraucht von: {rows}.",) * 2,
        "owners": ("Gehört: {rows}.",) * 2,
        "members": ("In {name}: {rows}.",) * 2,
        "no_members": ("In {name} habe ich niemanden gefunden.",) * 2,
        "reach": ("{name} hängt von {other} ab",) * 2,
        "indirect": ("{name} hängt indirekt von {other} ab",) * 2,
        "direct_only": ("Zur direkten Abhängigkeit:",) * 2,
        "reversed": ("Kein Dokument sagt, dass {name} von {other} abhängt, aber {other} hängt von {name} ab",) * 2,
        "path": ("{name} und {other} sind verbunden",) * 2,
        "cycle": ("{name} ist Teil einer zyklischen Abhängigkeit", "{name} ist Teil von {n} zyklischen Abhängigkeiten"),
        "direct": ("direkt",) * 2,
        "far": ("direkt oder indirekt",) * 2,
        "directly": ("Direkt: {rows}.",) * 2,
        "indirectly": ("Indirekt: {rows}.",) * 2,
        "through": ("über {via}",) * 2,
        "none": ("keine",) * 2,
        "others": ("Von anderer Art: {rows}.",) * 2,
        "more": ("und {n} weitere",) * 2,
        "past": ("Früher: {rows}.",) * 2,
        "planned": ("Geplant: {rows}.",) * 2,
        "negated": ("Verneint: {rows}.",) * 2,
        "disputed": ("Anderswo anders gesagt: {rows}.",) * 2,
        "today": ("Kein Dokument sagt das heute von {name}.",) * 2,
        "until": ("bis {dated}",) * 2,
        "from": ("ab {dated}",) * 2,
        "dependents_past": ("Früher abhängig von {name}: {rows}.",) * 2,
        "dependencies_past": ("{name} hing früher ab von: {rows}.",) * 2,
        "owner_past": ("{name} gehörte früher: {rows}.",) * 2,
        "dependents_planned": ("Geplant ist, dass von {name} abhängt: {rows}.",) * 2,
        "dependencies_planned": ("Geplant ist, dass {name} abhängt von: {rows}.",) * 2,
        "owner_planned": ("Geplant ist, dass {name} gehört: {rows}.",) * 2,
        "and": ("und",) * 2,
    },
}


class AnswerWording:
    """Words answers in one language about `name` (and `other`)."""

    def __init__(self, language: str, name: str, other: str = "") -> None:
        self.language, self.name, self.other = language, plain(name), plain(other)

    def say(self, what: str, count: int = 1, **values: object) -> str:
        sentence = SENTENCES[self.language][what][count != 1]
        number = count or SENTENCES[self.language]["none"][0]
        sentence_text = sentence.format(n=number, name=self.name, other=self.other, **values)
        return sentence_text[:1].upper() + sentence_text[1:] if what in OPENING else sentence_text

    def kinds(self, types: Sequence[str], count: int) -> str:
        known = KINDS[self.language]
        names = [known[one][count != 1] for one in types if one in known] or [known[""][count != 1]]
        return f" {self.say('and')} ".join(names)

    def kind(self, entity_type: str) -> str:
        """Returns the type in words, in the singular."""
        known = KINDS[self.language].get(entity_type)
        return known[0] if known else entity_type.lower().replace("_", " ")

    def related(self, asked: str, rows: Sequence[AnswerRow], types: Sequence[str], transitive: bool) -> str:
        """Says how many there are and names them, direct ones first."""
        if asked == "decided":
            return self.say(asked, rows=self.named(rows))
        count = len(rows)
        how = self.say("far" if transitive else "direct")
        opening = self.say(asked, count, kinds=self.kinds(types, count), how=how)
        if not rows:
            return f"{opening}."
        near = [one for one in rows if one.via is None]
        far = [one for one in rows if one.via is not None]
        if not transitive:
            return f"{opening}: {self.named(near)}."
        groups = [("directly", near), ("indirectly", far)]
        return " ".join([f"{opening}.", *(self.say(which, rows=self.named(some)) for which, some in groups if some)])

    def others(self, rows: Sequence[AnswerRow]) -> str:
        return self.say("others", rows=self.named(rows, with_type=True))

    def otherwise(self, rows: Sequence[AnswerRow], current: Sequence[AnswerRow]) -> str:
        """Says what was, is planned or denied; and which of the current facts are disputed."""
        known = {one.id for one in current}
        groups = [(status, [one for one in rows if one.status == status and one.id not in known]) for status in TIMES]
        groups.append(("disputed", [one for one in rows if one.id in known and one.status != "planned"]))
        return " ".join(self.say(which, rows=self.named(some)) for which, some in groups if some)

    def named(self, rows: Sequence[AnswerRow], *, with_type: bool = False) -> str:
        shown = [self._row(one, with_type) for one in rows[:MOST_NAMED]]
        more = len(rows) - len(shown)
        return ", ".join(shown) + (f" {self.say('more', more)}" if more else "")

    def _row(self, one: AnswerRow, with_type: bool) -> str:
        remark = one.entity_type.lower().replace("_", " ") if with_type else ""
        remark = self.say("through", via=plain(one.via)) if one.via else remark
        if one.dated and one.status in DATED:
            remark = self.say(DATED[one.status], dated=one.dated)
        marker = f" [{one.source}]" if one.source else ""
        return plain(one.name) + (f" ({remark})" if remark else "") + marker


def plain(name: str | None) -> str:
    """Returns the name without characters that could be taken for markers or layout."""
    return " ".join((name or "").translate(SPOILS_MARKERS).split())
