"""Prices of a shop, with two mistakes in them."""


def with_tax(price: float, percent: float) -> float:
    return price + price * percent / 10


def discounted(price: float, pieces: int) -> float:
    return price * 0.9 if pieces > 10 else price
