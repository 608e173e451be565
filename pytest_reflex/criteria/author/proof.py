"""Artifacts that mutants are made of, and what is known of a rule once it was tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.criteria.author.fault_injection import globs_of
from pytest_reflex.criteria.author.samples import FOLDER, NAME
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.globs import alternatives, selects
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Rule
from pytest_reflex.model.targets import CompiledCheck


class Proof(StrEnum):
    """What is known of a rule after all tries."""

    PROVED = "proved"
    VACUOUS = "vacuous"
    UNCLEAR = "unclear"
    UNPROVEN = "unproven"
    NOT_RUN = "not run"
    NOT_PROVABLE = "not provable"
    JUDGED = "judged"


MEANING = {
    Proof.VACUOUS: "it passes whatever is removed, garbled or inserted",
    Proof.UNCLEAR: "a check ended with an error on what it has to fail on",
    Proof.UNPROVEN: "there is nothing to prove it with",
    Proof.NOT_RUN: "it runs a command",
    Proof.NOT_PROVABLE: "what checks it is not installed",
    Proof.JUDGED: "an LLM judge grades it, so no free trial can prove it",
}
ADVICE = {
    Proof.VACUOUS: "make the check stricter, or give a bad sample that it fails on",
    Proof.UNCLEAR: "see what it says, and have it fail where there is nothing",
    Proof.UNPROVEN: "give samples, or name an artifact that passes",
    Proof.NOT_RUN: "--run-commands runs it on every text",
    Proof.NOT_PROVABLE: "install it",
    Proof.JUDGED: "give good and bad samples, and ask about them: criteria test --judge NAME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProof:
    """What is known of a rule: `empty` is its outcome on the empty artifact, None if not tried.

    A rule of absence passes there, or says of itself that it forbids something.
    `failed_on` says for each check on what it failed first, empty where it never did; None for a
    check that was not run. `tried` counts the texts beside the empty one; `cut` says that the time
    was over before all of them were tried. `needs` is the distribution without which it cannot be
    proved. `among` is the outcome on a folder that has a file on
    which the rule fails and one on which it passes; None where no check chooses files.
    """

    rule: Rule
    proof: Proof
    empty: Outcome | None = None
    is_absence: bool = False
    failed_on: tuple[str | None, ...] = ()
    tried: int = 0
    message: str = ""
    cut: bool = False
    among: Outcome | None = None
    needs: str = ""

    @property
    def idle(self) -> tuple[int, ...]:
        """The checks (from 1) that failed on nothing, in a rule that fails by another one."""
        if self.proof is not Proof.PROVED or self.cut:
            return ()
        return tuple(number for number, what in enumerate(self.failed_on, 1) if what == "")

    @property
    def is_one_enough(self) -> bool:
        """Whether a bad file passes beside a good one, and the rule does not allow it."""
        unsaid = any("files" in s.params and "each" not in s.params for s in self.rule.checks)
        return self.among is Outcome.PASS and unsaid

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.id,
            "proof": self.proof.value,
            "empty": self.empty.value if self.empty else None,
            "absence": self.is_absence,
            "failed_on": list(self.failed_on),
            "tried": self.tried,
            "message": self.message,
            "among_good": self.among.value if self.among else None,
            **({"needs": self.needs} if self.needs else {}),
        }


MOST_FILES = 8
"""Files of a folder that are changed, one by one."""


@dataclass(frozen=True, slots=True)
class Original:
    """A text that may pass; `name` is that of its file, `base` where its links lead from.

    In a folder `beside` has the texts of the other files; no name: they are all there is.
    """

    what: str
    text: str
    name: str = NAME
    base: Path | None = None
    beside: Mapping[str, str] | None = None

    @property
    def sample(self) -> Sample:
        """The artifact that this is."""
        if self.beside is None:
            return Sample.of_text(self.text, self.name)
        own = {self.name: self.text} if self.name else {}
        return Sample({**self.beside, **own}, is_folder=True)


def seed_of(what: str, sample: Sample, name: str = NAME, base: Path | None = None) -> Original:
    """Return a sample as a seed; `name` is that of a file for which any will do."""
    if sample.is_folder:
        return Original(what, "", "", base, sample.files)
    ((own, text),) = sample.files.items()
    return Original(what, text, own or name, base)


def empty_original(seed: Original, what: str) -> Original:
    """Return the seed with nothing in it, of the same name: an empty file, or an empty folder."""
    if seed.beside is None:
        return replace(seed, what=what, text="")
    return replace(seed, what=what, text="", name="", beside={})


def single_files(
    seed: Original, globs: Sequence[str], results: Sequence[CheckResult]
) -> Iterator[Original]:
    """Yield a folder as seeds of one file each: of those that globs or results name, else of all.

    A file is its own only one. The first MOST_FILES are those that are changed one by one.
    """
    if seed.beside is None:
        yield seed
        return
    files = seed.sample.files
    located = {r.location.path.removeprefix(f"{FOLDER}/") for r in results if r.location}
    named = [n for n in files if n in located or selects(globs, n)]
    for name in named or files:
        others = {other: text for other, text in files.items() if other != name}
        yield replace(seed, what=f"{seed.what}: {name}", text=files[name], name=name, beside=others)


def remove_files(seeds: Sequence[Original]) -> Iterator[Original]:
    """Yield folders without one of their files.

    Nothing where one file is all that is looked at: that is the empty artifact over again.
    """
    for seed in seeds if len(seeds) > 1 else ():
        yield replace(seed, what=f"{seed.what}, removed", text="", name="")


def together(whole: Original, streams: Sequence[Iterator[Original]]) -> Iterator[Original]:
    """Yield a folder with several files changed at once: the n-th change of each of them.

    What one file has may be in another one as well, and is gone when none has it.
    """
    for row in zip_longest(*streams) if len(streams) > 1 else ():
        changed = [seed for seed in row if seed]
        if len(changed) > 1:
            texts = {**whole.sample.files, **{seed.name: seed.text for seed in changed}}
            what = f"{changed[0].what}, and {len(changed) - 1} more changed with it"
            yield replace(whole, what=what, beside=texts)


def located_lines(seed: Original, results: Sequence[CheckResult]) -> list[int]:
    """Return the lines of the file that results point to."""
    places = [result.location for result in results if result.location]
    if seed.beside is not None:
        places = [place for place in places if place.path == f"{FOLDER}/{seed.name}"]
    return list(dict.fromkeys(place.line for place in places if place.line))


def is_text(seed: Original) -> bool:
    """Return whether mutants of the text can be made: it is UTF-8, and no NUL is in it."""
    try:
        return b"\0" not in seed.text.encode()
    except UnicodeEncodeError:
        return False


_STARS = re.compile(r"\*+")
_ONE_OF = re.compile(r"\[([^]!]).*?\]")


def among_good(
    checks: Sequence[CheckSpec],
    variables: Mapping[str, Any],
    good: Original | None,
    bad: Original | None,
) -> Original | None:
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


def _others(globs: Sequence[str], seed: Original) -> bool:
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
