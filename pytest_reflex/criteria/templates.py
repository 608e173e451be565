"""Where the stock templates lie, and the path that a reference to criteria means."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.criteria.packs import SUFFIXES, find_in_packs, installed_packs, pack_references
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.errors import CriteriaError, is_file, nearest_word, read_twice, suggest

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
        f"there are no criteria {quoted(text)}; tried {', '.join(str(path) for path in tried)}",
        hint=_remedy(text, path),
    )


def is_shared(path: Path) -> bool:
    """Return whether a file is a stock template or one of an installed pack."""
    if path.parent == stock_folder().resolve():
        return True
    folders = [pack.folder for pack in installed_packs() if pack.folder]
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
    broken = {pack.name: pack.problem for pack in installed_packs() if pack.problem}
    pack_name, slash, _ = text.rpartition("/")
    if slash and pack_name in broken:
        return broken[pack_name]
    if near:
        return suggest(near)
    return next(iter(broken.values()), "") or f"templates: {', '.join(known)}"
