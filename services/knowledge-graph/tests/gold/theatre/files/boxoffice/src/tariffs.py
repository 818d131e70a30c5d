"""Prices of seats."""


def price_of(seat: str) -> int:
    return 4200 if seat.startswith("A") else 2800
