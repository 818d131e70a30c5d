"""Compose files and Kubernetes objects, read from the YAML parser's nodes because these have positions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from knowledge_graph.extraction.manifests.statement import (
    OWNER,
    STORE_IMAGES,
    Manifest,
    ManifestRefused,
    NamedThing,
    called,
)
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.relation_types import DEPENDENCIES
from knowledge_graph.extraction.table_headers import ROLES, header_key

LOOKS_LIKE = re.compile(
    r"^[ \t{-]*[\"']?(?:services|kind|openapi|swagger|owner|owned[_-]by|team|squad|depends[_-]?on|dependencies|"
    r"upstreams?)"
    r"[\"']?[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
CATALOG = frozenset({"Component", "API", "Resource", "System"})
"""Kinds of entries in a Backstage catalog."""
NOT_OF_ENTRIES = frozenset({"needs", "uses", "requires", "components", "modules", "contains", "storage", "operator"})
"""Ignored as fields of entries, because pipelines and schemas use these words too."""
PIPELINE = frozenset({"jobs", "stages", "steps", "pipeline", "workflows"})
ENTRY_NAME = re.compile(r"[A-Za-z][\w.@/-]{1,60}(?: [A-Za-z\d][\w.-]{0,60}){0,3}")
MOST_NODES = 50_000
DEEPEST = 60
WORKLOADS = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet", "Pod", "Service", "Rollout"}
)
Pairs = dict[str, Node]


def read(text: str) -> Manifest:
    """Returns what a Compose file or Kubernetes objects state; nothing for other YAML.

    Raises ManifestRefused if it is not YAML, and for aliases that multiply or contain themselves.
    """
    manifest = Manifest()
    if LOOKS_LIKE.search(text) is None:
        return manifest
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ManifestRefused(f"it is not readable YAML: {' '.join(str(error).split())[:120]}") from error
    budget = [MOST_NODES]
    settings = {name: data for one in documents if one is not None for name, data in _settings(_pairs(one))}
    for document in documents:
        if document is not None:
            _count(document, budget, 0)
            fields = _pairs(document)
            if ("openapi" in fields or "swagger" in fields) and isinstance(fields.get("info"), MappingNode):
                _interface(fields["info"], manifest)
            elif isinstance(fields.get("services"), MappingNode):
                _compose(fields["services"], manifest)
            elif "apiVersion" in fields and _text(fields.get("kind")) in WORKLOADS:
                _workload(fields, manifest, settings)
            elif "apiVersion" in fields and _text(fields.get("kind")) in CATALOG:
                _catalog_entry(fields, manifest)
            elif "apiVersion" not in fields and not PIPELINE & fields.keys():
                _entries(document, manifest, 0)
    return manifest


def _interface(node: Node, manifest: Manifest) -> None:
    """Reads an OpenAPI document: its title names a service, and an extension of `info` may name its owner."""
    info = _pairs(node)
    title = info.get("title")
    if not isinstance(title, ScalarNode) or not title.value.strip():
        return
    service = _thing(manifest, title, "SERVICE")
    for key, value in info.items():
        if key.startswith("x-") and OWNER.search(key) and isinstance(value, ScalarNode) and value.value.strip():
            manifest.state(_thing(manifest, value, "TEAM"), "OWNS", service, key)


def _count(node: Node, budget: list[int], depth: int) -> None:
    """Visits every node as often as aliases repeat it, to bound the total."""
    budget[0] -= 1
    if budget[0] < 0 or depth > DEEPEST:
        raise ManifestRefused("its anchors and aliases repeat too much, or contain themselves")
    if isinstance(node, MappingNode):
        for key, value in node.value:
            _count(key, budget, depth + 1)
            _count(value, budget, depth + 1)
    elif isinstance(node, SequenceNode):
        for one in node.value:
            _count(one, budget, depth + 1)


def _pairs(node: Node | None) -> Pairs:
    """Returns the mapping's values by key, including those merged by `<<`."""
    found: Pairs = {}
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(key, ScalarNode) and key.value == "<<":
                merged = value.value if isinstance(value, SequenceNode) else [value]
                for one in merged:
                    found = _pairs(one) | found
            elif isinstance(key, ScalarNode):
                found[key.value] = value
    return found


def _keys(node: Node | None) -> Iterator[tuple[ScalarNode, Node]]:
    if isinstance(node, MappingNode):
        yield from ((key, value) for key, value in node.value if isinstance(key, ScalarNode) and key.value != "<<")


def _scalars(node: Node | None) -> Iterator[ScalarNode]:
    """Yields the entries of a list, the keys of a mapping, or the scalar itself."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        yield from (one for one in node.value if isinstance(one, ScalarNode))
    else:
        yield from (key for key, _ in _keys(node))


def _text(node: Node | None) -> str:
    return node.value if isinstance(node, ScalarNode) else ""


def _place(node: Node) -> int:
    """Returns the position where the scalar's value begins, after a quotation mark."""
    quoted = isinstance(node, ScalarNode) and node.style in {"'", '"'}
    return int(node.start_mark.index) + int(quoted)


def _thing(manifest: Manifest, node: ScalarNode, entity_type: str) -> NamedThing:
    return manifest.thing(_place(node), node.value, entity_type)


def _compose(services: Node, manifest: Manifest) -> None:
    kinds: dict[str, str] = {}
    for key, value in _keys(services):
        image = _image(_text(_pairs(value).get("image")))
        kinds[key.value] = "STORE" if image in STORE_IMAGES else "SERVICE"
    for key, value in _keys(services):
        fields = _pairs(value)
        source = _thing(manifest, key, kinds[key.value])
        for name in ("depends_on", "links"):
            for one in _scalars(fields.get(name)):
                service = one.value.partition(":")[0]
                if service in kinds:
                    target = manifest.thing(_place(one), service, kinds[service])
                    manifest.state(source, "DEPENDS_ON", target, name)
        labels = fields.get("labels")
        for label, said in _keys(labels):
            if OWNER.search(label.value) and isinstance(said, ScalarNode) and said.value:
                manifest.state(_thing(manifest, said, "TEAM"), "OWNS", source, label.value)
        _runs(manifest, source, fields)
        _environment(manifest, source, fields.get("environment"))


def _image(reference: str) -> str:
    """Returns the last part of an image name, without tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _runs(manifest: Manifest, source: NamedThing, fields: Pairs) -> None:
    node = fields.get("image")
    reference = _text(node)
    image = _image(reference)
    if node is None or "build" in fields or "." in reference.partition("/")[0].partition(":")[0] or not image:
        return
    place = reference.find(image)
    # An image of the same name is the thing itself.
    if "$" not in reference and place >= 0 and name_key(image) != name_key(source.surface):
        target = manifest.thing(_place(node) + place, image, "LIBRARY")
        manifest.state(source, "RUNS_ON", target, "image")


def _environment(manifest: Manifest, source: NamedThing, node: Node | None) -> None:
    if isinstance(node, MappingNode):
        for key, value in _keys(node):
            _address(manifest, source, _text(value), _place(value), "environment", key.value)
        return
    for value in _scalars(node):
        key_name, _, text = value.value.partition("=")
        _address(manifest, source, text, _place(value) + len(key_name) + 1, "environment", key_name)


def _address(manifest: Manifest, source: NamedThing, text: str, start: int, phrase: str, key: str) -> None:
    for place, host, kind, relation_type in called(text, start, key):
        manifest.state(source, relation_type, manifest.thing(place, host, kind), phrase)


def _settings(fields: Pairs) -> Iterator[tuple[str, Node]]:
    """Yields the name of a ConfigMap with its content."""
    if _text(fields.get("kind")) == "ConfigMap" and "data" in fields:
        yield _text(_pairs(fields.get("metadata")).get("name")), fields["data"]


def _workload(fields: Pairs, manifest: Manifest, settings: dict[str, Node]) -> None:
    metadata = _pairs(fields.get("metadata"))
    name = metadata.get("name")
    if not isinstance(name, ScalarNode):
        return
    source = _thing(manifest, name, "SERVICE")
    for group in ("labels", "annotations"):
        for key, label in _keys(metadata.get(group)):
            if OWNER.search(key.value) and isinstance(label, ScalarNode) and label.value:
                manifest.state(_thing(manifest, label, "TEAM"), "OWNS", source, key.value)
    for container in _containers(fields.get("spec"), 0):
        environment = _pairs(container).get("env")
        for entry in environment.value if isinstance(environment, SequenceNode) else ():
            pair = _pairs(entry)
            value = pair.get("value")
            if value is not None:
                _address(manifest, source, _text(value), _place(value), "env", _text(pair.get("name")))
        taken = _pairs(container).get("envFrom")
        for entry in taken.value if isinstance(taken, SequenceNode) else ():
            held = settings.get(_text(_pairs(_pairs(entry).get("configMapRef")).get("name")))
            for key, value in _keys(held):
                _address(manifest, source, _text(value), _place(value), "env", key.value)


def _catalog_entry(fields: Pairs, manifest: Manifest) -> None:
    """Reads an entry of a Backstage catalog: owner, system, dependencies."""
    name, spec = _pairs(fields.get("metadata")).get("name"), _pairs(fields.get("spec"))
    if not isinstance(name, ScalarNode):
        return
    is_store = _text(spec.get("type")) in {"database", "bucket", "cache"}
    source = _thing(manifest, name, "STORE" if is_store else "SERVICE")
    for key, relation_type, kind in (
        ("owner", "OWNS", "TEAM"),
        ("system", "PART_OF", ""),
        ("subcomponentOf", "PART_OF", ""),
        ("dependsOn", "DEPENDS_ON", ""),
        ("consumesApis", "CALLS", "SERVICE"),
    ):
        for one in _scalars(spec.get(key)):
            bare = re.split(r"[:/]", one.value)[-1]
            place = _place(one) + len(one.value) - len(bare)
            if bare:
                other = manifest.thing(place, bare, kind)
                ends = (other, source) if relation_type == "OWNS" else (source, other)
                manifest.state(ends[0], relation_type, ends[1], key)


def _entries(node: Node, manifest: Manifest, depth: int) -> None:
    """Reads the entries of a team's own list of services: an entry has a name or is named by its key, and states
    dependencies or owners in the words that table headers use."""
    if depth > DEEPEST:
        return
    if isinstance(node, SequenceNode):
        for one in node.value:
            _entries(one, manifest, depth + 1)
    for key, value in _keys(node):
        if isinstance(value, MappingNode) and "name" not in _pairs(value):
            _entry(key, _pairs(value), manifest)
        _entries(value, manifest, depth + 1)
    name = _pairs(node).get("name")
    if isinstance(name, ScalarNode):
        _entry(name, _pairs(node), manifest)


def _entry(name: ScalarNode, fields: Pairs, manifest: Manifest) -> None:
    for key, value in fields.items():
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)
        role = None if key in NOT_OF_ENTRIES else ROLES.get(header_key(spaced))
        if (
            role is None
            or role.relation_type not in DEPENDENCIES | {"OWNS", "PART_OF"}
            or isinstance(value, MappingNode)
        ):
            continue
        if ENTRY_NAME.fullmatch(name.value) is None:
            return
        source = _thing(manifest, name, "")
        for one in _scalars(value):
            if ENTRY_NAME.fullmatch(one.value) is not None:
                other = _thing(manifest, one, "TEAM" if role.relation_type == "OWNS" and role.reverse else "")
                ends = (other, source) if role.reverse else (source, other)
                manifest.state(ends[0], role.relation_type, ends[1], key)


def _containers(node: Node | None, depth: int) -> Iterator[Node]:
    """Yields the containers of a pod, at whatever depth of the specification its template is."""
    for key, value in _keys(node) if depth < DEEPEST else ():
        if key.value in {"containers", "initContainers"} and isinstance(value, SequenceNode):
            yield from value.value
        else:
            yield from _containers(value, depth + 1)
