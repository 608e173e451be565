"""Units of a kitchen."""


def grams(ounces: float) -> float:
    raise NotImplementedError  # TODO


def litres(cups: float) -> float:
    raise NotImplementedError  # TODO
