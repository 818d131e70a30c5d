"""Converts text into a form that models accept."""


def encodable(text: str) -> str:
    """Returns `text` with lone surrogates, which have no UTF-8 form, replaced by `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")
