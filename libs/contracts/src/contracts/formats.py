"""The accepted formats: media type by extension. Clients skip other files before they upload."""

from __future__ import annotations

from pathlib import PurePath

OFFICE = "application/vnd.openxmlformats-officedocument"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd"})
HTML = frozenset({"html", "htm", "xhtml"})
TEXT = frozenset({"txt", "text", "log", "org"})
RESTRUCTURED_TEXT = frozenset({"rst", "rest"})
ASCIIDOC = frozenset({"adoc", "asciidoc"})
LATEX = frozenset({"tex", "latex"})
CODE = frozenset(
    """
    py pyi js mjs cjs ts tsx jsx java kt kts scala go rs c h cc cpp cxx hpp hh cs rb php pl lua
    swift r jl ex exs erl hs ml clj dart zig sh bash zsh fish ps1 bat sql yaml yml toml json jsonl
    ini cfg conf properties env css scss less proto tf hcl graphql xml xsd vue svelte gradle cmake
    mk dockerfile diff patch
    """.split()  # noqa: SIM905 - a list of sixty lines says no more
)
# Whole names that count as extensions.
CODE_NAMES = frozenset({"dockerfile", "makefile", "gnumakefile", "jenkinsfile", "vagrantfile", "rakefile", "gemfile"})
MEDIA_TYPES = {
    **{suffix: f"text/x-{suffix}" for suffix in CODE | CODE_NAMES},
    "pdf": "application/pdf",
    "docx": f"{OFFICE}.wordprocessingml.document",
    "pptx": f"{OFFICE}.presentationml.presentation",
    "xlsx": f"{OFFICE}.spreadsheetml.sheet",
    "odt": f"{OPEN_DOCUMENT}.text",
    "odp": f"{OPEN_DOCUMENT}.presentation",
    "ods": f"{OPEN_DOCUMENT}.spreadsheet",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "mhtml": "multipart/related",
    "mht": "multipart/related",
    "vtt": "text/vtt",
    "boxnote": "application/vnd.box.boxnote",
    "nxml": "application/xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "gif": "image/gif",
    "json": "application/json",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "sql": "application/sql",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "cjs": "text/javascript",
    "py": "text/x-python",
    **dict.fromkeys(MARKDOWN, "text/markdown"),
    **dict.fromkeys(HTML, "text/html"),
    **dict.fromkeys(TEXT, "text/plain"),
    **dict.fromkeys(RESTRUCTURED_TEXT, "text/x-rst"),
    **dict.fromkeys(ASCIIDOC, "text/asciidoc"),
    **dict.fromkeys(LATEX, "text/x-tex"),
}
# Expanded when uploaded: each file in them is a document.
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
SUPPORTED = tuple(sorted(MEDIA_TYPES.keys() - CODE_NAMES | CODE))


def extension(file_name: str) -> str:
    """Returns the extension in lower case, without the dot; the whole name for files like Dockerfile."""
    path = PurePath(file_name.strip().lower())
    return path.suffix.lstrip(".") or path.name


def has_extension(file_name: str) -> bool:
    """Returns whether the name has an extension; without one the content decides the format."""
    return "." in file_name.strip(".")


def may_be_supported(file_name: str) -> bool:
    """Returns False if the server rejects a file with this name, whatever it contains."""
    return extension(file_name) in MEDIA_TYPES or not has_extension(file_name)


def is_archive(file_name: str) -> bool:
    """Returns whether an upload expands a file with this name."""
    return file_name.strip().lower().endswith(ARCHIVES)
