"""Where templates lie: the stock ones, and those that installed packages bring.

A package declares, in the group `pytest_reflex_criteria`, a name and where its templates lie:
`acme = "acme_rules"` (the folder of that package) or `acme = "acme_rules:templates"` (a folder in
it). The names of installed distributions are read only when a template is looked for that is
neither a stock template nor a file.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.criteria.diagnostics import quote
from pytest_reflex.errors import CriteriaError, is_file, nearest_word, read_twice, suggest

GROUP = "pytest_reflex_criteria"
# A slash would lead anywhere.
_NAME = re.compile(r"[\w-]+")
SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A pack by its name: the distribution that brings it, and the folder of its templates.

    `folder` is None where it cannot be found; `problem` says why then.
    """

    name: str
    distribution: str
    folder: Path | None
    problem: str = ""

    def templates(self) -> dict[str, Path]:
        """Return name to path of the templates; what starts with a dot or underscore is none."""
        if self.folder is None:
            return {}
        paths = sorted(self.folder.iterdir(), reverse=True)
        found = {
            path.stem: path
            for path in paths
            if path.suffix in SUFFIXES
            and path.name[0] not in "._"
            and not path.name.endswith(".schema.json")
        }
        return dict(sorted(found.items()))


def find_packs() -> tuple[Pack, ...]:
    """Return the packs of all installed distributions, by name; the first on the path wins."""
    from importlib.metadata import entry_points

    found: dict[str, Pack] = {}
    for entry in entry_points(group=GROUP):
        distribution = entry.dist.name if entry.dist else "an unknown distribution"
        found.setdefault(entry.name, _pack(entry.name, entry.value, distribution))
    return tuple(found[name] for name in sorted(found))


def find_in_packs(reference: str) -> Path | None:
    """Return the template that `pack/name`, or a name that one pack has, means; None for none.

    Raises CriteriaError where several packs have a template of that name.
    """
    packs = find_packs()
    pack_name, slash, name = reference.rpartition("/")
    found = [
        (f"{pack.name}/{name}", path)
        for pack in packs
        if not slash or pack.name == pack_name
        for known, path in pack.templates().items()
        if known == name
    ]
    if len(found) > 1:
        known = " and ".join(full for full, _ in found)
        raise CriteriaError(
            f"several packs have a template {quote(name)}: {known}",
            hint=f"name one of them, such as {found[0][0]}",
        )
    return found[0][1] if found else None


def pack_references() -> list[str]:
    """Return `pack/name` of every template that packs bring."""
    return [f"{pack.name}/{name}" for pack in find_packs() for name in pack.templates()]


def _pack(name: str, value: str, distribution: str) -> Pack:
    module, _, inside = value.partition(":")
    package, *wanted = [*module.strip().split("."), *filter(None, inside.strip().split("."))]
    leads = "leads to no folder"
    if not all(map(_NAME.fullmatch, (package, *wanted))):
        leads = "is not a package and folders in it, with dots between them"
    else:
        for root in _roots(package):
            folder = root.joinpath(*wanted)
            if folder.is_dir():
                return Pack(name=name, distribution=distribution, folder=folder)
    problem = f"the entry point {name} = {quote(value)} of {distribution} {leads}"
    return Pack(name=name, distribution=distribution, folder=None, problem=problem)


def _roots(package: str) -> Iterator[Path]:
    """Yield the folders of a top-level package, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    yield from map(Path, (spec and spec.submodule_search_locations) or ())


_FOLDER = "criteria_templates"


def stock_folder() -> Path:
    """Return the folder of the stock templates: in the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / _FOLDER
    return inside if inside.is_dir() else package.parent / _FOLDER


def stock_names() -> list[str]:
    """Return the names of the stock templates in alphabetical order."""
    return sorted(path.stem for path in stock_folder().glob("*.yaml"))


def find_template(name: str | Path, *, relative_to: Path | None = None) -> Path:
    """Return the file that a template's name or a path means.

    A name is a stock template's; anything else is a path, relative to `relative_to` (default: the
    working directory), or where there is no such file a template of an installed pack, as `name`
    or `pack/name`. Raises CriteriaError with the paths tried.
    """
    folder = relative_to or Path()
    text = str(name)
    if isinstance(name, str) and text in stock_names():
        return stock_folder() / f"{text}.yaml"
    path = folder / name
    tried = [path]
    if isinstance(name, str) and path.suffix not in SUFFIXES and path.name == text:
        tried = [
            stock_folder() / f"{text}.yaml",
            path,
            *(folder / (text + s) for s in SUFFIXES[:2]),
        ]
    for candidate in tried:
        if _may_be_meant(candidate, folder_too=len(tried) == 1):
            return candidate
    if isinstance(name, str) and path.suffix not in SUFFIXES and (found := find_in_packs(name)):
        return found
    raise CriteriaError(
        f"there are no criteria {quote(text)}; tried {', '.join(str(path) for path in tried)}",
        hint=_remedy(text, path),
    )


def is_shared(path: Path) -> bool:
    """Return whether a file is a stock template or one of an installed pack."""
    if path.parent == stock_folder().resolve():
        return True
    folders = [pack.folder for pack in find_packs() if pack.folder]
    return any(path.is_relative_to(folder.resolve()) for folder in folders)


def _may_be_meant(path: Path, *, folder_too: bool) -> bool:
    try:
        return read_twice(lambda: is_file(path) or (folder_too and path.exists()))
    except (OSError, ValueError):
        # The reader says what is wrong with it.
        return folder_too


def _remedy(text: str, path: Path) -> str:
    try:
        beside = [other.name for other in path.parent.iterdir() if other.suffix in SUFFIXES]
    except (OSError, ValueError):
        beside = []
    known = [*stock_names(), *pack_references()]
    near = nearest_word(path.name if path.suffix else text, [*known, *sorted(beside)])
    broken = {pack.name: pack.problem for pack in find_packs() if pack.problem}
    pack_name, slash, _ = text.rpartition("/")
    if slash and pack_name in broken:
        return broken[pack_name]
    if near:
        return suggest(near)
    return next(iter(broken.values()), "") or f"templates: {', '.join(known)}"
