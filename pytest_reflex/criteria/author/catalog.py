"""Every template that can be named: the stock ones and those of installed packs, each read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.criteria.packs import installed_packs
from pytest_reflex.criteria.templates import stock_folder, stock_names
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.rules import Criteria, number

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

STOCK = "stock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A template by the name that `--criteria` takes; `criteria` is None where it is broken.

    `origin` is "stock", or the pack with the distribution that brings it.
    """

    name: str
    origin: str
    path: Path | None
    criteria: Criteria | None = None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "name": self.name,
            "origin": self.origin,
            "path": str(self.path) if self.path else None,
        }
        if self.criteria is None:
            return {**wire, "problem": self.problem}
        thresholds = self.criteria.thresholds.items()
        return {
            **wire,
            "version": self.criteria.version,
            "thresholds": {level.value: number(value) for level, value in thresholds},
            "rules": len(self.criteria.rules),
            **({"switched_off": off} if (off := len(self.criteria.switched_off)) else {}),
        }


def catalog(registry: Registry) -> tuple[Listed, ...]:
    """Return all templates: the stock ones, then pack by pack; a broken one has its problem."""
    return tuple(_read(listed, registry) for listed in _found())


def _found() -> Iterator[Listed]:
    for name in stock_names():
        yield Listed(name=name, origin=STOCK, path=stock_folder() / f"{name}.yaml")
    for pack in installed_packs():
        origin = f"{pack.name} ({pack.distribution})"
        if pack.problem:
            yield Listed(name=pack.name, origin=origin, path=None, problem=pack.problem)
        for name, path in pack.templates().items():
            yield Listed(name=f"{pack.name}/{name}", origin=origin, path=path)


def _read(listed: Listed, registry: Registry) -> Listed:
    if listed.path is None:
        return listed
    try:
        criteria, problem = load_criteria(listed.path, registry=registry), ""
    except CriteriaError as error:
        criteria, problem = None, str(error.problems[0])
    return Listed(
        name=listed.name,
        origin=listed.origin,
        path=listed.path,
        criteria=criteria,
        problem=problem,
    )
