"""pom.xml: the dependencies of a Maven project."""

from __future__ import annotations

from xml.parsers.expat import ExpatError, ParserCreate

from knowledge_graph.extraction.manifests.statement import Manifest, ManifestRefused

DEPENDENCY = ("project", "dependencies", "dependency")
DEEPEST = 60
NOT_TO_RUN = frozenset({"test", "provided"})


def read(text: str, _folder: str) -> Manifest:
    """Reads dependencies: those for tests, or provided, as USES, others as DEPENDS_ON. Raises ManifestRefused."""
    reading = _PomReading(text)
    try:
        reading.parser.Parse(text.encode(), True)
    except (ExpatError, ValueError) as error:
        raise ManifestRefused(f"it is not readable XML: {error}") from error
    return reading.manifest


class _PomReading:
    """Follows the elements and records each text with its position."""

    def __init__(self, text: str) -> None:
        self.text, self.content = text, text.encode()
        self.manifest = Manifest()
        self.path: list[str] = []
        self.said: dict[tuple[str, ...], tuple[int, str]] = {}
        self.parser = ParserCreate()
        self.parser.buffer_text = False  # so that the parser reports where each text begins
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.CharacterDataHandler = self._say
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise ManifestRefused("it declares a document type, whose entities could multiply")

    def _open(self, name: str, _: dict[str, str]) -> None:
        self.path.append(name.rpartition(":")[2])
        if len(self.path) > DEEPEST:
            raise ManifestRefused("its elements are nested too deeply")
        if tuple(self.path) == DEPENDENCY:
            self.said = {path: said for path, said in self.said.items() if path[: len(DEPENDENCY)] != DEPENDENCY}

    def _say(self, data: str) -> None:
        value = data.strip()
        if value and tuple(self.path) not in self.said:
            place = len(self.content[: self.parser.CurrentByteIndex].decode(errors="ignore"))
            found = self.text.find(value, place)
            self.said[tuple(self.path)] = found, value

    def _close(self, _: str) -> None:
        project = self.said.get(("project", "artifactId"))
        name, scope = (self.said.get((*DEPENDENCY, field)) for field in ("artifactId", "scope"))
        at_end = tuple(self.path) == DEPENDENCY
        if at_end and project is not None and name is not None and min(project[0], name[0]) >= 0:
            relation_type = "USES" if scope is not None and scope[1] in NOT_TO_RUN else "DEPENDS_ON"
            source = self.manifest.thing(*project, "LIBRARY")
            self.manifest.state(source, relation_type, self.manifest.thing(*name, "LIBRARY"), "dependency")
        self.path.pop()
