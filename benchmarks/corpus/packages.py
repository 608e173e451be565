"""The packages of the corpus and which of their documents are judged by which template."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.model.enums import Level

LIST = Path(__file__).parent / "packages.toml"
REGISTRIES = ("npm", "pypi")


class CorpusError(Exception):
    """The list of packages, a package or a judgement cannot be used as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One release of a project: where it comes from, and globs of its documents by template."""

    registry: str
    name: str
    version: str
    sha256: str
    level: Level
    documents: dict[str, tuple[str, ...]]

    @property
    def folder(self) -> str:
        """The name of its folder and of its archive in the cache."""
        return f"{self.name.replace('/', '+')}-{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file of a package (`path` within it) and the template and level it is judged by."""

    package: str
    path: str
    file: Path
    template: str
    level: Level


@dataclass(frozen=True, slots=True)
class Corpus:
    """The whole list, with a version that changes when the list does."""

    version: str
    packages: tuple[Package, ...]


def read_packages(text: str) -> Corpus:
    """Return the list of `packages.toml`; raises CorpusError for what cannot be used."""
    data = tomllib.loads(text)
    packages = []
    for entry in data["package"]:
        package = Package(
            registry=entry["registry"],
            name=entry["name"],
            version=entry["version"],
            sha256=entry.get("sha256", ""),
            level=Level(entry.get("level", "B")),
            documents={name: tuple(globs) for name, globs in entry["documents"].items()},
        )
        if package.registry not in REGISTRIES:
            raise CorpusError(f"{package.name}: the registry {package.registry!r} is unknown")
        packages.append(package)
    names = [package.name for package in packages]
    for name in names:
        if names.count(name) > 1:
            raise CorpusError(f"{name} is listed twice")
    return Corpus(data["version"], tuple(packages))


def documents(package: Package, folder: Path) -> Iterable[Document]:
    """Yield the documents of an unpacked package; each glob has to match something."""
    seen: dict[Path, str] = {}
    for template, globs in package.documents.items():
        for glob in globs:
            files = sorted(path for path in folder.glob(glob) if path.is_file())
            if not files:
                raise CorpusError(f"{package.name} {package.version}: nothing matches {glob!r}")
            for file in files:
                if seen.setdefault(file, template) != template:
                    raise CorpusError(f"{package.name}: {file.name} is judged by two templates")
                yield Document(
                    package=package.name,
                    path=file.relative_to(folder).as_posix(),
                    file=file,
                    template=template,
                    level=package.level,
                )
