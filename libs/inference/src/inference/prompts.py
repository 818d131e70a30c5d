"""Prompts: Markdown files with `<<TOKEN>>` placeholders, beside the code that uses them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from inference.errors import PromptInvalid

_TOKEN = re.compile(r"<<([A-Z][A-Z0-9_]*)>>")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt split at its placeholders: texts and tokens alternate, starting with a text."""

    name: str
    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, name: str, text: str) -> "Prompt":
        """Raises PromptInvalid for anything that looks like a placeholder but is not one."""
        prompt = cls(name, tuple(_TOKEN.split(text.strip())))
        if any("<<" in piece or ">>" in piece for piece in prompt.pieces[::2]):
            raise PromptInvalid(f"{name} has a placeholder that is not of the form <<UPPER_CASE>>")
        return prompt

    @property
    def tokens(self) -> frozenset[str]:
        """Returns the names of its values, in lower case: `<<TOKEN>>` takes the value `token`."""
        return frozenset(piece.lower() for piece in self.pieces[1::2])

    def render(self, **values: str) -> str:
        """Returns the text with each token replaced. Values are data: tokens inside them are not replaced.

        Raises PromptInvalid when a token has no value, or a value no token.
        """
        if wrong := self.mismatch(values):
            raise PromptInvalid(wrong)
        return "".join(values[piece.lower()] if index % 2 else piece for index, piece in enumerate(self.pieces))

    def mismatch(self, given: Collection[str]) -> str:
        """Describes which tokens have no value and which values no token; empty if all match."""
        missing, unknown = sorted(self.tokens - set(given)), sorted(set(given) - self.tokens)
        return f"{self.name}: missing {missing}, unknown {unknown}" if missing or unknown else ""


def load_prompts(package: str, wanted: Mapping[str, Collection[str]]) -> dict[str, Prompt]:
    """Loads all Markdown files of a package as prompts, by their paths below it.

    `wanted` gives the tokens of each. Raises PromptInvalid with everything that is wrong, by name: missing or unused
    files, tokens without a value, and values without a token.
    """
    found = {name: Prompt.parse(name, text) for name, text in _texts(files(package), "")}
    wrong = [f"missing {name}" for name in sorted(set(wanted) - set(found))]
    wrong += [f"unused {name}" for name in sorted(set(found) - set(wanted))]
    wrong += [text for name in sorted(set(wanted) & set(found)) if (text := found[name].mismatch(wanted[name]))]
    if wrong:
        raise PromptInvalid(f"{package}: {'; '.join(wrong)}")
    return found


def _texts(folder: Traversable, path: str) -> list[tuple[str, str]]:
    texts = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            texts += _texts(entry, f"{path}{entry.name}/")
        elif entry.name.endswith(".md"):
            texts.append((path + entry.name, entry.read_text("utf-8")))
    return texts
