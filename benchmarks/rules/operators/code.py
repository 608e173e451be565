"""Faults of Python modules."""

from __future__ import annotations

import re
from functools import partial

from benchmarks.rules.operators import Change, Operator
from benchmarks.rules.operators import append as append_part


def append(addition: str, text: str) -> str:
    return append_part(f"\n{addition}", text)


def append_to_library(addition: str, text: str) -> str | None:
    """Append to a module that is not a program: programs may print."""
    return None if "__main__" in text else append(addition, text)


def replace(pattern: str, new: str, text: str) -> str | None:
    changed = re.sub(pattern, new, text, count=1, flags=re.MULTILINE)
    return changed if changed != text else None


ASSERT = "an assert about a parameter"
HANDLER = "def handle_it(work: object) -> None:\n    try:\n        print_it = str(work)\n    {}\n"
CHANGES: dict[str, dict[str, Change]] = {
    "a.correctness.compiles": {
        "a colon that is missing": partial(replace, r"^( *(?:def|class) .*):$", r"\1"),
        "a bracket that is missing": partial(append, "LAST = (1, 2"),
        "a return outside of a function": partial(append, "return 1"),
        "an indent that is wrong": partial(append, "LAST = 1\n    MORE = 2"),
    },
    "a.correctness.logic": {
        "an undefined name": partial(append, "def last_one() -> int:\n    return undefined_name"),
        "a default that is changed": partial(
            append, "def collect(a: int, into: list[int] = []) -> None:\n    into.append(a)"
        ),
        "is with a text": partial(append, "def is_a(a: str) -> bool:\n    return a is 'a'"),
        "a comparison for nothing": partial(append, "def same(a: int) -> None:\n    a == 1"),
    },
    "a.completeness.functions": {
        "a body that only passes": partial(append, "def last_one() -> int:\n    pass"),
        "not implemented": partial(append, "def last_one() -> int:\n    raise NotImplementedError"),
        "a comment in place of code": partial(append, "LAST = 1\n\n# ... rest of the code"),
        "an ellipsis": partial(append, "def last_one(a: int) -> int:\n    ..."),
    },
    "a.completeness.types": {
        "a result without a type": partial(replace, r"^(    def \w+\(self\)) -> \w+:", r"\1:"),
        "a parameter without a type": partial(append, "def twice(a) -> int:\n    return 2"),
        "a type that does not hold": partial(append, "def word(a: int) -> str:\n    return a"),
        "an argument of another type": partial(
            append, "def size(a: str) -> int:\n    return len(a)\n\n\nSIZE: int = size(1)"
        ),
    },
    "b.quality.error-handling": {
        "a bare except": partial(append, HANDLER.format("except:\n        work = None")),
        "an error that only passes": partial(
            append, HANDLER.format("except Exception:\n        pass")
        ),
        "a cause that is lost": partial(
            append, HANDLER.format("except ValueError:\n        raise KeyError('a')")
        ),
        "a plain Exception": partial(
            append, "def stop(a: int) -> None:\n    raise Exception('it is broken')"
        ),
    },
    "b.quality.logging": {
        "print": partial(append_to_library, "def show(a: int) -> None:\n    print(a)"),
        "a deprecated level": partial(
            append, "import logging as logs\n\nlogs.getLogger(__name__).warn('a')"
        ),
        "a value in the text": partial(
            append,
            "import logging\n\n\ndef log_it(a: int) -> None:\n"
            "    logging.getLogger(__name__).info(f'hello {a}')",
        ),
    },
    "b.style.conventions": {
        "a name in another style": partial(append, "def openDoor() -> None:\n    return None"),
        "an import for nothing": partial(replace, r"^(import \w+)$", r"\1\nimport colorsys"),
        "a variable for nothing": partial(
            append, "def last_one() -> int:\n    unused = 1\n    return 2"
        ),
        "a line without an end": partial(append, "LAST = '" + "a" * 140 + "'"),
    },
    "b.security.input-validation": {
        "eval": partial(append, "def run_it(a: str) -> object:\n    return eval(a)"),
        "pickle": partial(
            append, "import pickle\n\n\ndef load(a: bytes) -> object:\n    return pickle.loads(a)"
        ),
        "a shell": partial(
            append,
            "import subprocess\n\n\ndef call(a: str) -> None:\n    subprocess.run(a, shell=True)",
        ),
        "SQL with a value": partial(
            append,
            "def find(db: object, name: str) -> None:\n"
            "    db.execute(f\"select * from t where n = '{name}'\")",
        ),
        ASSERT: partial(append, "def set_age(age: int) -> None:\n    assert age > 0"),
    },
}
OPERATORS = tuple(
    Operator(
        templates=("code",),
        rule=rule,
        formats=("file", "folder"),
        name=name,
        change=change,
        where=r"(?:^|/)[^_/][^/]*$" if name == ASSERT else "",  # private functions may assert
    )
    for rule, changes in CHANGES.items()
    for name, change in changes.items()
)
