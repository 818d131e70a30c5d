"""The formats that are accepted: media type by extension. A client leaves out what is not here before it uploads."""

from __future__ import annotations

from pathlib import PurePath

OFFICE = "application/vnd.openxmlformats-officedocument"
MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd"})
HTML = frozenset({"html", "htm", "xhtml"})
TEXT = frozenset({"txt", "text", "log", "rst", "adoc", "asciidoc", "org", "tex"})
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
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
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
}
SUPPORTED = tuple(sorted(MEDIA_TYPES.keys() - CODE_NAMES | CODE))


def extension(file_name: str) -> str:
    """In lower case, without the dot; the whole name for files like Dockerfile."""
    path = PurePath(file_name.strip().lower())
    return path.suffix.lstrip(".") or path.name


def has_extension(file_name: str) -> bool:
    """Without one the content decides."""
    return "." in file_name.strip(".")


def may_be_supported(file_name: str) -> bool:
    """False when the server refuses a file of this name, whatever it contains."""
    return extension(file_name) in MEDIA_TYPES or not has_extension(file_name)
