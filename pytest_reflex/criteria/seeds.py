"""Artifacts that mutants are made of: a file, or a folder whose files are, one by one and all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from pytest_reflex.criteria.author.samples import FOLDER, NAME
from pytest_reflex.model.globs import selects
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.samples import Sample

MOST_FILES = 8
"""Files of a folder that are changed, one by one."""


@dataclass(frozen=True, slots=True)
class Seed:
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


def seed_of(what: str, sample: Sample, name: str = NAME, base: Path | None = None) -> Seed:
    """Return a sample as a seed; `name` is that of a file for which any will do."""
    if sample.is_folder:
        return Seed(what, "", "", base, sample.files)
    ((own, text),) = sample.files.items()
    return Seed(what, text, own or name, base)


def emptied(seed: Seed, what: str) -> Seed:
    """Return the seed with nothing in it, of the same name: an empty file, or an empty folder."""
    if seed.beside is None:
        return replace(seed, what=what, text="")
    return replace(seed, what=what, text="", name="", beside={})


def single_files(
    seed: Seed, globs: Sequence[str], results: Sequence[CheckResult]
) -> Iterator[Seed]:
    """Yield a folder as seeds of one file each: of those that globs or results name, else of all.

    A file is its own only one. The first MOST_FILES are those that are changed one by one.
    """
    if seed.beside is None:
        yield seed
        return
    files = seed.sample.files
    told = {r.location.path.removeprefix(f"{FOLDER}/") for r in results if r.location}
    named = [n for n in files if n in told or selects(globs, n)]
    for name in named or files:
        others = {other: text for other, text in files.items() if other != name}
        yield replace(seed, what=f"{seed.what}: {name}", text=files[name], name=name, beside=others)


def taken_out(seeds: Sequence[Seed]) -> Iterator[Seed]:
    """Yield folders without one of their files.

    Nothing where one file is all that is looked at: that is the empty artifact over again.
    """
    for seed in seeds if len(seeds) > 1 else ():
        yield replace(seed, what=f"{seed.what}, removed", text="", name="")


def together(whole: Seed, streams: Sequence[Iterator[Seed]]) -> Iterator[Seed]:
    """Yield a folder with several files changed at once: the n-th change of each of them.

    What one file has may be in another one as well, and is gone when none has it.
    """
    for row in zip_longest(*streams) if len(streams) > 1 else ():
        changed = [seed for seed in row if seed]
        if len(changed) > 1:
            texts = {**whole.sample.files, **{seed.name: seed.text for seed in changed}}
            what = f"{changed[0].what}, and {len(changed) - 1} more changed with it"
            yield replace(whole, what=what, beside=texts)


def lines_told(seed: Seed, results: Sequence[CheckResult]) -> list[int]:
    """Return the lines of the file that results point to."""
    places = [result.location for result in results if result.location]
    if seed.beside is not None:
        places = [place for place in places if place.path == f"{FOLDER}/{seed.name}"]
    return list(dict.fromkeys(place.line for place in places if place.line))


def is_text(seed: Seed) -> bool:
    """Return whether mutants of the text can be made: it is UTF-8, and no NUL is in it."""
    try:
        return b"\0" not in seed.text.encode()
    except UnicodeEncodeError:
        return False
