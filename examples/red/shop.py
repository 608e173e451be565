"""Prices of a small shop."""


def total(prices, discount=0):
    """Return the sum of prices after a discount between 0 and 1."""
    return sum(prices) * (1 - discount)


def label(price):
    """Return a price as it stands on a shelf."""
    return f"{price} EUR"
