"""Prices with tax."""


def with_tax(net: float, rate: float = 0.2) -> float:
    """Return the price that a customer pays, in whole cents."""
    if rate < 0:
        raise ValueError(f"a rate is not below 0: {rate}")
    return round(net * (1 + rate), 2)
