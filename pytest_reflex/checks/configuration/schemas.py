"""Compose files and GitHub workflows against their published schemas (extra `config`).

The schemas are those that check-jsonschema carries; nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report, lacking
from pytest_reflex.checks.finding_at import finding_at
from pytest_reflex.checks.structure.configuration.file import ConfigFile, Meaning

SCHEMAS = {Meaning.COMPOSE: "compose-spec", Meaning.WORKFLOW: "github-workflows"}

_LATER = {
    Meaning.COMPOSE: re.compile(r"(?<!\$)\$(?:\{|[A-Za-z_])"),
    Meaning.WORKFLOW: re.compile(r"\$\{\{"),
}
"""What of a text is put in before it counts."""

_MAY_BE_EMPTY = frozenset({"env", "with", "secrets", "inputs", "outputs", "on"})
_LIST_OF_ONE = re.compile(
    r"(?:branches|tags|paths)(?:-ignore)?|types|workflows|needs|runs-on|labels"
)
"""Keys of lists for which GitHub takes one text as well."""


def valid(config: ConfigFile) -> Report:
    """Find what the schema of its kind does not allow; a file of no known kind has none."""
    name = SCHEMAS.get(config.meaning)
    if name is None:
        return Report()
    if lack := lacking("check_jsonschema"):
        return lack
    folder = _folder()
    if folder is None:
        return Report(unmeasured="check-jsonschema is installed without its schemas")
    return Report(list(_findings(config, _validator(str(folder / f"{name}.json")))))


def _folder() -> Path | None:
    found = find_spec("check_jsonschema")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "builtin_schemas" / "vendor"
    return folder if folder.is_dir() else None


@cache
def _validator(path: str) -> Any:
    from jsonschema.validators import validator_for
    from referencing import Registry

    schema = json.loads(Path(path).read_bytes())
    registry: Registry[Any] = Registry()
    return validator_for(schema)(schema, registry=registry)


def _findings(config: ConfigFile, validator: Any) -> Iterator[Finding]:
    for document in config.documents:
        errors = (e for e in validator.iter_errors(document.value) if not _is_excused(e, config))
        for error in islice(errors, MOST_FINDINGS):
            nearest = _nearest(error)
            path = tuple(nearest.absolute_path)
            where = ".".join(map(str, path)) or "the document"
            if named := _strange(nearest):
                told, path = f"{where}: unknown key {named!r}", (*path, named)
            else:
                told = f"{where}: {_told(nearest)}"
            yield finding_at(document, f"{told} (read as a {config.label})", path)


def _is_excused(error: Any, config: ConfigFile) -> bool:
    """Return whether a tool takes what its published schema does not.

    Of a choice that nothing fits it is enough that one of its branches has no other fault.
    """
    if _is_taken(error, config):
        return True
    branches: dict[Any, list[Any]] = {}
    for one in error.context or ():
        branches.setdefault(one.schema_path[0], []).append(one)
    return any(all(_is_excused(e, config) for e in branch) for branch in branches.values())


def _is_taken(error: Any, config: ConfigFile) -> bool:
    """Return whether a value is one that is only known later, or one instead of a list of one."""
    value, path = error.instance, tuple(error.absolute_path)
    if isinstance(value, str) and _LATER[config.meaning].search(value):
        return True
    if config.meaning is not Meaning.WORKFLOW or error.validator != "type":
        return False
    if value is None:
        return len(path) > 1 and (path[-2] in _MAY_BE_EMPTY or path[-1] == "default")
    wanted = error.validator_value
    for_list = "array" in (wanted if isinstance(wanted, list) else [wanted])
    named = bool(path) and _LIST_OF_ONE.fullmatch(str(path[-1])) is not None
    return isinstance(value, str) and for_list and named


def _nearest(error: Any) -> Any:
    """Return, of a choice that nothing fits, the fault that lies deepest: it says most."""
    while error.context:
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    return error


def _strange(error: Any) -> str:
    """Return the first key that the schema does not know, where that is the fault."""
    if error.validator not in ("additionalProperties", "unevaluatedProperties"):
        return ""
    keys = error.instance if isinstance(error.instance, dict) else ()
    return next((key for key in keys if repr(key) in error.message), "")


def _told(error: Any) -> str:
    shown = repr(error.instance)
    message = str(error.message)
    return message.replace(shown, "it") if len(shown) > 60 else message
