"""What tokens cost, where the deployment says so. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Of a million tokens. Without both there are no costs."""

    input: float | None
    output: float | None
    currency: str

    @property
    def known(self) -> bool:
        return self.input is not None and self.output is not None

    @property
    def shown_currency(self) -> str | None:
        return self.currency if self.known else None

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        if self.input is None or self.output is None:
            return None
        return round((input_tokens * self.input + output_tokens * self.output) / MILLION, 6)
