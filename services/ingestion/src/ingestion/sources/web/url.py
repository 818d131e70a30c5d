"""Normalises URLs, so that a page has only one: without fragment, tracking parameters and default port."""

from __future__ import annotations

import re
from urllib.parse import unquote, urljoin, urlsplit

from pydantic_core import Url, ValidationError

MAX_CHARACTERS = 1000
MAX_REPEATS = 3
TRACKING = re.compile(r"(utm_[a-z]+|gclid|fbclid|msclkid|mc_[ce]id|phpsessid|jsessionid)", re.IGNORECASE)
SESSION_IN_PATH = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)
ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonical(reference: str, base: str | None = None) -> str | None:
    """Returns the normalised URL of `reference` on the page `base`; None if no page could have it.

    It is resolved as in browsers (WHATWG), and escapes are normalised (RFC 3986, 6.2.2).
    """
    try:
        url = Url(urljoin(base, reference.strip()) if base else reference.strip())
    except (ValidationError, ValueError):
        return None
    if url.scheme not in {"http", "https"} or not url.host or url.username or url.password:
        return None
    path = SESSION_IN_PATH.sub("", _escaped(url.path or "/")) or "/"
    query = "&".join(part for part in _escaped(url.query or "").split("&") if part and not _is_tracking(part))
    found = f"{site_of(str(url))}{path}" + (f"?{query}" if query else "")
    return found if len(found) <= MAX_CHARACTERS else None


def site_of(url: str) -> str:
    """Returns scheme, host and any port other than the scheme's default, such as https://example.org."""
    parsed = Url(url)
    default = {"http": 80, "https": 443}.get(parsed.scheme)
    port = "" if parsed.port in {None, default} else f":{parsed.port}"
    return f"{parsed.scheme}://{parsed.host}{port}"


def path_of(url: str) -> str:
    """Returns path and query, which identify a page within its site, with the leading slash. `url` is canonical."""
    return url[len(site_of(url)) :]


def pattern_path(url: str) -> str:
    """Returns the path to match patterns with: unescaped, without the leading slash."""
    return unquote(urlsplit(url).path, errors="replace").lstrip("/")


def repeats_itself(url: str) -> bool:
    """Returns whether a part of the path occurs many times, as with endlessly nested relative links."""
    parts = [part for part in urlsplit(url).path.split("/") if part]
    return any(parts.count(part) > MAX_REPEATS for part in set(parts))


def _is_tracking(parameter: str) -> bool:
    return TRACKING.fullmatch(parameter.partition("=")[0]) is not None


def _escaped(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        character = chr(int(match[0][1:], 16))
        return character if character in UNRESERVED else match[0].upper()

    return ESCAPE.sub(replace, text)
