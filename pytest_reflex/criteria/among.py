"""One bad file among good ones: what a rule for files of a folder has to be tried on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from pytest_reflex.criteria.patterns_of import globs_of
from pytest_reflex.criteria.seeds import Seed
from pytest_reflex.model.globs import alternatives, selects
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CompiledCheck

_STARS = re.compile(r"\*+")
_ONE_OF = re.compile(r"\[([^]!]).*?\]")


def among_good(
    checks: Sequence[CheckSpec], variables: Mapping[str, Any], good: Seed | None, bad: Seed | None
) -> Seed | None:
    """Return a folder of a file that is good and one that is bad; both are chosen by the checks.

    None where the checks choose no files, or could not choose two of them. A bad folder is one in
    which a single file was changed.
    """
    if good is None or bad is None or not any("files" in spec.params for spec in checks):
        return None
    globs = [glob for glob in globs_of(checks, variables) if isinstance(glob, str)]
    if good.beside is not None:
        return bad if bad.name and _others(globs, bad) else None
    if bad.beside is not None:
        return None
    for name, other in _names(globs, good.name):
        if selects(globs, name) and selects(globs, other):
            texts = {name: good.text}
            return replace(bad, what=f"{bad.what}, beside a good file", name=other, beside=texts)
    return None


def asks_of_all(checks: Iterable[CompiledCheck]) -> bool:
    """Return whether each of the checks that choose files asks something of all of them."""
    choosing = [check for check in checks if "files" in check.spec.params]
    return all(
        one.spec.params.get("each") is True or one.spec.params.get("across") is True or one.forbids
        for one in choosing
    )


def _others(globs: Sequence[str], seed: Seed) -> bool:
    return selects(globs, seed.name) and any(selects(globs, name) for name in seed.beside or ())


def _names(globs: Iterable[str], like: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of names of files: like the good one, and as the globs have them."""
    path = PurePath(like)
    yield like, str(path.with_name(f"another-{path.name}"))
    for glob in globs:
        for one in alternatives(glob):
            plain = _ONE_OF.sub(r"\1", one.removeprefix("/")).replace("**/", "").replace("?", "x")
            if "*" in plain:
                yield _STARS.sub("good", plain), _STARS.sub("bad", plain)
            elif not plain.startswith(".."):
                yield plain, f"another/{plain}"
