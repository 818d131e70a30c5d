"""Terraform: the types of resources and modules, their references, the addresses they hold, and their owners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_hcl
from tree_sitter import Language, Node, Parser

from knowledge_graph.extraction.manifests.statement import (
    OWNER,
    Manifest,
    ManifestRefused,
    NamedThing,
    called,
    kind_of_store,
)
from knowledge_graph.extraction.relation_types import DEPENDS_ON
from knowledge_graph.extraction.table_headers import ROLES, header_key

LANGUAGE = Language(tree_sitter_hcl.language())
NAMING = (
    "name",
    "identifier",
    "function_name",
    "bucket",
    "cluster_identifier",
    "cluster_id",
    "db_name",
    "service_name",
)
STORES = re.compile(
    r"db_|_db|rds|sql|dynamodb|redis|cache|memorystore|bucket|spanner|bigtable|cosmos|mongo|postgres|storage_account|"
    r"opensearch|elasticsearch|documentdb|keyspace"
)
SERVICES = re.compile(r"service|function|lambda|app_|_app|deployment|job|cloud_run|container_group|queue|topic|stream")
NO_SERVICE = re.compile(
    r"discovery|account|attachment|policy|role|iam|permission|user|subscription|parameter|subnet|secret"
)
DEEPEST = 60
MOST_NODES = 50_000


@dataclass
class TerraformBlock:
    """A resource, a data source or a module; `thing` is None if it is only plumbing."""

    thing: NamedThing | None
    refers: list[tuple[str, int]] = field(default_factory=list)
    """Addresses of other blocks, each with the position of the reference."""
    calls: list[tuple[int, str, str, str]] = field(default_factory=list)
    owners: list[tuple[int, str]] = field(default_factory=list)
    needs: list[tuple[int, str]] = field(default_factory=list)


def read(text: str) -> Manifest:
    """Returns what the blocks state. References through plumbing (a task definition) count as the service's own.

    Raises ManifestRefused if it is not HCL.
    """
    content = text.encode()
    tree = Parser(LANGUAGE).parse(content)
    if tree.root_node.has_error:
        raise ManifestRefused("it is not readable HCL")
    manifest, blocks = Manifest(), dict[str, TerraformBlock]()
    reading = _BlockReading(content, manifest)
    for node in _blocks(tree.root_node):
        address = reading.address(node)
        if address is not None:
            blocks[address] = reading.block(node, address)
    for address, block in blocks.items():
        if block.thing is not None:
            _state(manifest, blocks, address, block.thing)
    return manifest


def _state(manifest: Manifest, blocks: dict[str, TerraformBlock], address: str, thing: NamedThing) -> None:
    seen, left, first = {address}, [address], True
    while left:
        block = blocks[left.pop()]
        for place, host, kind, relation_type in block.calls:
            manifest.state(thing, relation_type, manifest.thing(place, host, kind), "address")
        for place, name in block.needs:
            manifest.state(thing, DEPENDS_ON, manifest.thing(place, name, ""), "depends_on")
        for place, name in block.owners if first else ():
            manifest.state(manifest.thing(place, name, "TEAM"), "OWNS", thing, "owner")
        first = False
        for other, place in block.refers:
            target = blocks.get(other)
            if target is None or other in seen:
                continue
            seen.add(other)
            if target.thing is None:
                left.append(other)
            else:
                manifest.state(thing, DEPENDS_ON, target.thing, other, place)


def _blocks(root: Node) -> Iterator[Node]:
    for body in root.children:
        yield from (child for child in body.children if child.type == "block")


class _BlockReading:
    """Reads blocks; positions are characters of the text."""

    def __init__(self, content: bytes, manifest: Manifest) -> None:
        self.content, self.manifest, self.left = content, manifest, MOST_NODES

    def place(self, node: Node) -> int:
        return len(self.content[: node.start_byte].decode())

    def address(self, node: Node) -> str | None:
        """Returns `aws_db_instance.main`, `data.….…` or `module.edge`; None for other blocks."""
        labels = [_string(child) for child in node.children if child.type == "string_lit"]
        kind = _text(node.children[0])
        names = [text for found in labels if found is not None for text in [_text(found)]]
        if kind == "resource" and len(names) == 2:
            return ".".join(names)
        if kind == "data" and len(names) == 2:
            return ".".join(["data", *names])
        return f"module.{names[0]}" if kind == "module" and len(names) == 1 else None

    def block(self, node: Node, address: str) -> TerraformBlock:
        label = next(found for child in reversed(node.children) if (found := _string(child)) is not None)
        block = TerraformBlock(None)
        body = next((child for child in node.children if child.type == "body"), None)
        named: dict[str, Node] = {}
        for attribute in body.children if body is not None else ():
            if attribute.type == "attribute":
                value = _only_string(attribute)
                if value is not None:
                    named[_text(attribute.children[0])] = value
        name = next((named[key] for key in NAMING if key in named), label)
        kind = _kind(address)
        if kind is not None:
            block.thing = self.manifest.thing(self.place(name), _text(name), kind)
        if body is not None:
            self._walk(body, block, "", 0)
        return block

    def _walk(self, node: Node, block: TerraformBlock, key: str, depth: int) -> None:
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            raise ManifestRefused("its blocks are nested too deeply, or too many")
        if node.type == "attribute":
            key = _text(node.children[0])
            self._needed(node, block, key)
        elif node.type == "object_elem":
            key = _text(node.children[0]).strip('"')
        if node.type == "template_literal":
            place, text = self.place(node), _text(node)
            block.calls += called(text, place, key)
            if OWNER.search(key) and text.strip():
                block.owners.append((place, text))
        elif node.type == "expression" and (found := _reference(node)):
            block.refers.append((found, self.place(node)))
        for child in node.children:
            self._walk(child, block, key, depth + 1)

    def _needed(self, attribute: Node, block: TerraformBlock, key: str) -> None:
        """Records names in a list if the attribute's own name says that they are needed: `upstreams = ["a", "b"]`."""
        role = ROLES.get(header_key(key))
        if role is None or role.relation_type != DEPENDS_ON or role.reverse:
            return
        for one in _descendants(attribute, "template_literal", 8):
            block.needs.append((self.place(one), _text(one)))


def _kind(address: str) -> str | None:
    kind = address.removeprefix("data.").partition(".")[0]
    if kind == "module":
        return kind_of_store(address.partition(".")[2]) or "SERVICE"
    if NO_SERVICE.search(kind):
        return None
    return "STORE" if STORES.search(kind) else "SERVICE" if SERVICES.search(kind) else None


def _reference(node: Node) -> str | None:
    """Returns the address of the block to which `aws_db_instance.main.address` refers."""
    parts = [_text(node.children[0])] if node.children and node.children[0].type == "variable_expr" else []
    parts += [_text(child).lstrip(".") for child in node.children if child.type == "get_attr"]
    if len(parts) < 2 or parts[0] in {"var", "local", "each", "self", "path", "count", "terraform"}:
        return None
    size = 3 if parts[0] == "data" else 2
    return ".".join(parts[:size]) if len(parts) >= size else None


def _descendants(node: Node, kind: str, depth: int) -> Iterator[Node]:
    if node.type == kind:
        yield node
    for child in node.children if depth else ():
        yield from _descendants(child, kind, depth - 1)


def _string(node: Node) -> Node | None:
    return next((child for child in node.children if child.type == "template_literal"), None)


def _only_string(attribute: Node) -> Node | None:
    """Returns the text of `name = "edge"`; None if the value is more than a literal text."""
    node = attribute.children[-1]
    while len(node.children) == 1:
        node = node.children[0]
    return _string(node) if node.type == "string_lit" and node.named_child_count == 3 else None


def _text(node: Node) -> str:
    return node.text.decode() if node.text is not None else ""
