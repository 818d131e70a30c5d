"""Holds of the counter."""

import psycopg

from tariffs import price_of


def hold(connection: psycopg.Connection, seat: str) -> int:
    connection.execute("INSERT INTO holds (seat) VALUES (%s)", [seat])
    return price_of(seat)
