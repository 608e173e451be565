"""Prices of a small shop."""

RATE = 19


def gross(net: int) -> int:
    return net + net * RATE // 100
