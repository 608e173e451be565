"""Prints how long each word of a file is on average; a program for the command line."""

import sys
from collections.abc import Iterable


def average(words: Iterable[str]) -> float:
    """Return the mean length of the words, 0 where there are none."""
    lengths = [len(word) for word in words]
    return sum(lengths) / len(lengths) if lengths else 0.0


def main(arguments: list[str]) -> int:
    """Print the average for each file; returns the exit status."""
    for name in arguments:
        try:
            with open(name, encoding="utf-8") as file:
                words = file.read().split()
        except OSError as error:
            print(f"{name}: {error.strerror}", file=sys.stderr)
            return 1
        print(f"{name}: {average(words):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
