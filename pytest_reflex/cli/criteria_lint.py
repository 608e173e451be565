"""``pytest-reflex criteria lint``: what is wrong with criteria files, and what is odd."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_reflex.cli.criteria_look import registry_here
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json, verdict
from pytest_reflex.errors import CriteriaError, ExitCode, Place, UsageError, did_you_mean


@click.command(short_help="Say what is wrong with criteria files, and what is odd.")
@click.argument("references", metavar="FILE...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Exit with status 1 where there are warnings.")
@click.option("--ignore", "ignored", metavar="NAME", multiple=True, help="Leave a warning out.")
@json_option
def lint(references: tuple[str, ...], strict: bool, ignored: tuple[str, ...], as_json: bool) -> int:
    """Name all errors of each FILE, or its warnings where there are none.

    What a file inherits is looked at for errors only.

    Exit status: 4 with errors, else 0; with --strict 1 where there are warnings.
    """
    from pytest_reflex.criteria.linting.lint import lint as look
    from pytest_reflex.criteria.linting.remark import WARNINGS
    from pytest_reflex.reports.authoring import lint_text

    for name in ignored:
        if name not in WARNINGS:
            hint = did_you_mean(name, WARNINGS)
            raise UsageError(f"--ignore {name}: there is no such warning", hint=hint)
    registry = registry_here()
    files = dict.fromkeys(references)
    remarks = [
        remark
        for reference in files
        for remark in look(reference, registry)
        if remark.code not in ignored
    ]
    errors = sum(remark.is_error for remark in remarks)
    status = ExitCode.GATE_FAILED if strict and remarks else ExitCode.OK
    status = ExitCode.USAGE if errors else status
    with verdict(status):
        if as_json:
            give_json(
                {
                    "files": list(files),
                    "errors": errors,
                    "warnings": len(remarks) - errors,
                    "remarks": [remark.to_json() for remark in remarks],
                }
            )
        else:
            give(lint_text(remarks, Sources().line, len(files)))
    return status


class Sources:
    """The lines of criteria files, each file read once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, place: Place) -> str:
        """Return the line that a place is in; empty where it cannot be read."""
        if place.path not in self._files:
            self._files[place.path] = _lines(place.path)
        lines = self._files[place.path]
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""


def _lines(path: str) -> list[str]:
    from pytest_reflex.criteria.document import read_bytes

    try:
        text = read_bytes(Path(path), path).decode("utf-8-sig", "replace")
    except CriteriaError:
        return []
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
