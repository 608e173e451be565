"""Baskets of customers."""

import sqlite3

from prices import with_tax


def total(net_prices: list[float]) -> float:
    """Return what the basket costs."""
    return sum(with_tax(price) for price in net_prices)


def stored(database: sqlite3.Connection, customer: str) -> list[float]:
    """Return the net prices in a customer's basket."""
    rows = database.execute("select net from baskets where customer = ?", (customer,))
    return [row[0] for row in rows]
