"""The argument PROCEDURE of the verbs of `iterate`, completed by the shell with those that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.options import completing


def iterate_root() -> Path:
    """Return the folder of all that the iteration loop keeps, as it is configured here."""
    root: str = configured()["iterate.root"]
    return Path.cwd() / root


def procedure_argument(*, required: bool = True, wanted: str = "any") -> Callable[..., Any]:
    """Return the argument; `wanted` says which are completed.

    They are any that is declared, those that are driven, those whose run is resumable, or those of
    which anything is kept.
    """
    found = completing(lambda: _WANTED[wanted]())
    return click.argument("procedure", required=required, shell_complete=found)


def _any() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names

    return (CompletionItem(name) for name in procedure_names(configured()))


def _resumable() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state, standing_of

    root, known = iterate_root(), procedure_names(configured())
    found = (standing_of(root, name) for name in procedures_with_state(root))
    for one in found:
        if one.next_step and one.procedure in known:
            yield CompletionItem(one.procedure, help=one.shown_status)


def _driven() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.statefile import is_driven
    from pytest_reflex.drivers.iterate.status import procedures_with_state

    root = iterate_root()
    names = (name for name in procedures_with_state(root) if is_driven(root, name))
    return (CompletionItem(name) for name in names)


def _kept() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.cleaning import kept_procedures

    return (CompletionItem(name) for name in kept_procedures(iterate_root()))


_WANTED: dict[str, Callable[[], Iterator[CompletionItem]]] = {
    "any": _any,
    "resumable": _resumable,
    "driven": _driven,
    "kept": _kept,
}


def is_known(procedure: str, root: Path, more: Iterable[str] = ()) -> bool:
    """Return whether there is a procedure of that name, a state of one, or one among `more`."""
    return procedure in _names(root, more)


def known(procedure: str, root: Path, more: Iterable[str] = ()) -> str:
    """Return the name of a procedure that is known; raises UsageError."""
    from pytest_reflex.errors import UsageError, did_you_mean

    names = _names(root, more)
    if procedure not in names:
        hint = did_you_mean(procedure, names)
        raise UsageError(f"there is no procedure {procedure!r}", hint=hint)
    return procedure


def _names(root: Path, more: Iterable[str]) -> list[str]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state

    declared = procedure_names(configured())
    return [*dict.fromkeys((*declared, *procedures_with_state(root), *more))]
