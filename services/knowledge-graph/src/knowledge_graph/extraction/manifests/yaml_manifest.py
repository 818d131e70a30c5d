"""Compose files and Kubernetes objects, read by the YAML parser's nodes, which know their places."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from knowledge_graph.extraction.manifests.statement import STORE_IMAGES, Manifest, ManifestRefused, NamedThing, called

LOOKS_LIKE = re.compile(r"^[ \t{]*[\"']?(?:services|kind|openapi|swagger)[\"']?[ \t]*:", re.MULTILINE)
MOST_NODES = 50_000
DEEPEST = 60
WORKLOADS = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet", "Pod", "Service", "Rollout"}
)
OWNER = re.compile(r"(?:^|[./_-])(?:owner|team|owned-by)$", re.IGNORECASE)

Pairs = dict[str, Node]


def read(text: str) -> Manifest:
    """Returns what a Compose file or Kubernetes objects state; nothing for other YAML.

    Raises ManifestRefused for what is no YAML, and for aliases that multiply or contain themselves.
    """
    manifest = Manifest()
    if LOOKS_LIKE.search(text) is None:
        return manifest
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ManifestRefused(f"it is not readable YAML: {' '.join(str(error).split())[:120]}") from error
    budget = [MOST_NODES]
    for document in documents:
        if document is not None:
            _count(document, budget, 0)
            fields = _pairs(document)
            if ("openapi" in fields or "swagger" in fields) and isinstance(fields.get("info"), MappingNode):
                _interface(fields["info"], manifest)
            elif isinstance(fields.get("services"), MappingNode):
                _compose(fields["services"], manifest)
            elif "apiVersion" in fields and _text(fields.get("kind")) in WORKLOADS:
                _workload(fields, manifest)
    return manifest


def _interface(node: Node, manifest: Manifest) -> None:
    """An OpenAPI document: its title names a service, and what extends `info` may name its owner."""
    info = _pairs(node)
    title = info.get("title")
    if not isinstance(title, ScalarNode) or not title.value.strip():
        return
    service = _thing(manifest, title, "SERVICE")
    for key, value in info.items():
        if key.startswith("x-") and OWNER.search(key) and isinstance(value, ScalarNode) and value.value.strip():
            manifest.state(_thing(manifest, value, "TEAM"), "OWNS", service, key)


def _count(node: Node, budget: list[int], depth: int) -> None:
    """Walks all nodes as often as aliases repeat them."""
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
    """Returns the mapping's values by key, with those that `<<` merges."""
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
    """Returns where the scalar's value begins, after a quotation mark."""
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
        _runs(manifest, source, fields)
        _environment(manifest, source, fields.get("environment"))


def _image(reference: str) -> str:
    """Returns the last part of an image's name, without tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _runs(manifest: Manifest, source: NamedThing, fields: Pairs) -> None:
    node = fields.get("image")
    reference = _text(node)
    image = _image(reference)
    if node is None or "build" in fields or "." in reference.partition("/")[0].partition(":")[0] or not image:
        return
    place = reference.find(image)
    if "$" not in reference and place >= 0:
        target = manifest.thing(_place(node) + place, image, "LIBRARY")
        manifest.state(source, "RUNS_ON", target, "image")


def _environment(manifest: Manifest, source: NamedThing, node: Node | None) -> None:
    values = [value for _, value in _keys(node)] if isinstance(node, MappingNode) else list(_scalars(node))
    for value in values:
        text = _text(value)
        offset = 0
        if isinstance(node, SequenceNode):
            offset = text.find("=") + 1
        _address(manifest, source, text[offset:], _place(value) + offset, "environment")


def _address(manifest: Manifest, source: NamedThing, text: str, start: int, phrase: str) -> None:
    for place, host, kind, relation_type in called(text, start):
        manifest.state(source, relation_type, manifest.thing(place, host, kind), phrase)


def _workload(fields: Pairs, manifest: Manifest) -> None:
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
            value = _pairs(entry).get("value")
            if value is not None:
                _address(manifest, source, _text(value), _place(value), "env")


def _containers(node: Node | None, depth: int) -> Iterator[Node]:
    """Yields the containers of a pod wherever its template stands in the specification."""
    for key, value in _keys(node) if depth < DEEPEST else ():
        if key.value in {"containers", "initContainers"} and isinstance(value, SequenceNode):
            yield from value.value
        else:
            yield from _containers(value, depth + 1)
