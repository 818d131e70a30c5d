"""Prompts: Markdown files with `{{token}}` placeholders, beside the code that uses them."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files

from inference.errors import PromptInvalid

_TOKEN = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt split at its placeholders: texts and tokens alternate, beginning with a text."""

    name: str
    pieces: tuple[str, ...]

    @classmethod
    def load(cls, package: str, name: str, *, tokens: Collection[str] | None = None) -> "Prompt":
        """Reads `name` (may name a subfolder) in `package`. With `tokens`, they must be exactly the prompt's.

        Raises PromptInvalid, FileNotFoundError.
        """
        text = files(package).joinpath(name).read_text("utf-8").strip()
        prompt = cls(name, tuple(_TOKEN.split(text)))
        if any("{{" in piece for piece in prompt.pieces[::2]):
            raise PromptInvalid(f"{name} has a placeholder that is not of the form {{{{lower_case}}}}")
        if tokens is not None:
            prompt._compare(frozenset(tokens))
        return prompt

    @property
    def tokens(self) -> frozenset[str]:
        return frozenset(self.pieces[1::2])

    def render(self, **values: str) -> str:
        """Returns the text with each token replaced. A value is data: what looks like a token in it stays as it is.

        Raises PromptInvalid when a token has no value, or a value no token.
        """
        self._compare(values.keys())
        return "".join(values[piece] if index % 2 else piece for index, piece in enumerate(self.pieces))

    def _compare(self, given: Collection[str]) -> None:
        missing, unknown = sorted(self.tokens - set(given)), sorted(set(given) - self.tokens)
        if missing or unknown:
            raise PromptInvalid(f"{self.name}: missing {missing}, unknown {unknown}")
