"""Temperatures as people write them."""

ABSOLUTE_ZERO = -273.15


def celsius(text: str) -> float:
    """Read `21 C` or `70 F` and return degrees Celsius."""
    number, _, unit = text.strip().rpartition(" ")
    if unit not in ("C", "F"):
        raise ValueError(f"{text!r} has no unit; write C or F after the number, as in 21 C")
    value = float(number) if unit == "C" else (float(number) - 32) * 5 / 9
    if value < ABSOLUTE_ZERO:
        raise ValueError(f"{text!r} is below absolute zero")
    return value
