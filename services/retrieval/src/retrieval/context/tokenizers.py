"""The tokenizers that count packets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

from inference.estimate import estimated_tokens
from inference.tokens import count_tokens, load_minilm_tokenizer
from retrieval.errors import TokenizerUnusable, UnknownTokenizer

MINILM = "minilm"
ESTIMATE = "estimate-4-bytes"


class ContextTokenizers:
    """The bundled one, an estimate, and each `NAME.json` of a folder (a `tokenizer.json`, renamed after its model).

    A file is read once, when its tokenizer is first used.
    """

    def __init__(self, folder: Path | None = None, default: str = MINILM) -> None:
        """Raises UnknownTokenizer if the default is none of them."""
        self._files = {file.stem: file for file in sorted(folder.glob("*.json"))} if folder else {}
        self._counting: dict[str, Callable[[str], int]] = {ESTIMATE: estimated_tokens}
        self._lock = threading.Lock()
        self.default = default
        if default not in self.names:
            raise self._unknown(default)

    @property
    def names(self) -> list[str]:
        """The names of all tokenizers, including the default."""
        return [MINILM, ESTIMATE, *(name for name in self._files if name not in (MINILM, ESTIMATE))]

    def check(self, name: str | None) -> str:
        """Returns the name, or the default's for None. Raises UnknownTokenizer."""
        if name is not None and name not in self.names:
            raise self._unknown(name)
        return name or self.default

    def counting(self, name: str) -> Callable[[str], int]:
        """Returns a function that counts a text's tokens, without special ones. Raises TokenizerUnusable."""
        with self._lock:
            if name not in self._counting:
                tokenizer = self._load(name)
                self._counting[name] = lambda text: count_tokens(tokenizer, text)
            return self._counting[name]

    def _load(self, name: str) -> Tokenizer:
        if name == MINILM:
            return load_minilm_tokenizer()
        try:
            tokenizer = Tokenizer.from_file(str(self._files[name]))
        except Exception as error:  # the library raises no class of its own
            raise TokenizerUnusable(f"the file of the tokenizer {name} cannot be read") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _unknown(self, name: str) -> UnknownTokenizer:
        return UnknownTokenizer(f"there is no tokenizer {name!r}", available=self.names)
