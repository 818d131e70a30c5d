"""Metadata that HTML, XML, office files, books, mails and PDF files declare.

Damaged parts are ignored: whether a file can be read is for its reader to decide.
"""

from __future__ import annotations

import email
import zipfile
from collections.abc import Callable, Iterator
from email.header import decode_header, make_header
from email.policy import compat32
from html.parser import HTMLParser
from io import BytesIO

from lxml import etree

from ingestion.conversion.declared_text import add, attributes, preamble
from ingestion.conversion.metadata import Declared

HEAD = 256 * 1024  # bytes of an HTML file that are searched for its head
PART = 1 << 20  # most bytes that are read of a part of an archive
OLE = b"\xd0\xcf\x11\xe0"
XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
PROPERTIES = {
    "title": "titles",
    "keywords": "tags",
    "keyword": "tags",
    "subject": "tags",
    "language": "languages",
    "creator": "authors",
    "initial-creator": "authors",
    "created": "written",
    "creation-date": "written",
    "modified": "modified",
}


class _MarkupHead(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.declared = Declared()
        self._title: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "html" and given.get("lang"):
            self.declared.languages.append(given["lang"])
        elif tag == "title":
            self._title = []
        elif tag == "meta":
            add(self.declared, given.get("name") or given.get("property") or "", given.get("content", ""))

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title is not None:
            self.declared.titles.append("".join(self._title))
            self._title = None


def html(data: bytes) -> Declared:
    parser = _MarkupHead()
    head, _, _ = data[:HEAD].partition(b"</head>")
    parser.feed(head.decode("utf-8", errors="replace"))
    return parser.declared


def office(data: bytes) -> Declared:
    """Reads the core properties of Office Open XML (ECMA-376 part 2, 11). `subject` is a sentence there, not a tag."""
    return _properties(_part(data, "docProps/core.xml"), frozenset({"subject"}))


def open_document(data: bytes) -> Declared:
    """Reads `meta.xml`, where `dc:date` and `dc:creator` say when and by whom the file was last saved."""
    declared = _properties(_part(data, "meta.xml"), frozenset({"subject", "creator"}))
    declared.modified += [each for name, each in _texts(_part(data, "meta.xml")) if name == "date"]
    return declared


def epub(data: bytes) -> Declared:
    container = _part(data, "META-INF/container.xml")
    if container is None:
        return Declared()
    path = next((each.get("full-path") for each in container.iter("{*}rootfile")), None)
    package = _part(data, path) if path else None
    declared = _properties(package)
    for name, text in _texts(package):
        if name == "date":
            declared.written.append(text)
    if package is not None:
        declared.modified += [
            each.text for each in package.iter("{*}meta") if each.get("property") == "dcterms:modified"
        ]
    return declared


def jats(data: bytes) -> Declared:
    declared = Declared()
    root = _xml(data)
    front = root.find(".//{*}article-meta") if root is not None else None
    if root is None or front is None:
        return declared
    declared.languages += [each for each in [root.get(XML_LANGUAGE)] if each]
    declared.tags += [" ".join(each.itertext()) for each in front.iter("{*}kwd")]
    for contributor in front.iter("{*}contrib"):
        name = contributor.find("{*}name")
        if contributor.get("contrib-type", "author") == "author" and name is not None:
            parts = (name.findtext("{*}given-names"), name.findtext("{*}surname"))
            declared.authors.append(" ".join(part for part in parts if part))
    for published in front.iter("{*}pub-date"):
        year, month, day = (published.findtext(f"{{*}}{part}") for part in ("year", "month", "day"))
        if year and month and day:
            declared.written.append(f"{year.zfill(4)}-{month.zfill(2)}-{day.zfill(2)}")
    return declared


def mail(data: bytes) -> Declared:
    if data.startswith(OLE):
        return _outlook(data)
    message = email.message_from_bytes(data[:HEAD], policy=compat32)
    declared = Declared(written=[message["Date"]], languages=[message["Content-Language"]])
    try:
        declared.authors.append(str(make_header(decode_header(message["From"] or ""))))
        declared.tags.append(str(make_header(decode_header(message["Keywords"] or ""))))
    except (LookupError, ValueError):  # an unknown encoding
        declared.authors.append(str(message["From"]))
    return declared


def _outlook(data: bytes) -> Declared:
    from oxmsg import Message  # noqa: PLC0415 - only this format needs it

    try:
        message = Message.load(BytesIO(data))
        return Declared(authors=[message.sender], written=[message.sent_date])
    except (KeyError, ValueError, OSError, AttributeError, IndexError, AssertionError):
        return Declared()


READERS: dict[str, Callable[[bytes], Declared]] = {
    "docx": office,
    "pptx": office,
    "xlsx": office,
    "odt": open_document,
    "ods": open_document,
    "odp": open_document,
    "epub": epub,
    "html": html,
    "jats": jats,
    "asciidoc": lambda data: attributes(data.decode("utf-8", errors="replace")),
    "latex": lambda data: preamble(data.decode("utf-8", errors="replace")),
    "email": mail,
}


def _properties(root: etree._Element | None, passed_over: frozenset[str] = frozenset()) -> Declared:
    declared = Declared()
    for name, text in _texts(root):
        known = PROPERTIES.get(name)
        if known is not None and name not in passed_over:
            getattr(declared, known).append(text)
    return declared


def _texts(root: etree._Element | None) -> Iterator[tuple[str, str]]:
    if root is not None:
        for element in root.iter("{*}*"):
            text = (element.text or "").strip()
            if text:
                yield etree.QName(element).localname, text


def _part(data: bytes, name: str) -> etree._Element | None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open(name) as part:
            return _xml(part.read(PART))
    except (KeyError, OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError):
        return None


def _xml(data: bytes) -> etree._Element | None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
