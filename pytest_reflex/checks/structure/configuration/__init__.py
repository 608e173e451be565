"""`configuration`: one aspect of a configuration file, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.checks.finding import Report
from pytest_reflex.checks.options import POSITIVE, ParameterType, aspect_of, word_of
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.configuration.deployment import permissions, portability
from pytest_reflex.checks.structure.configuration.documentation import comments, defaults, variables
from pytest_reflex.checks.structure.configuration.file import (
    LINES_PER_COMMENT,
    ConfigExpectations,
    ConfigFile,
)
from pytest_reflex.checks.structure.configuration.formats import read_config
from pytest_reflex.checks.structure.configuration.meanings import KINDS
from pytest_reflex.checks.structure.configuration.required import check_required, find_missing_part
from pytest_reflex.checks.structure.configuration.secret_detection import secrets
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text import paths


def syntax(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Say in which format the file was read; that it could be read is what is asked."""
    return Report((), f"reads as {config.label}")


AUTO = "auto"
ASPECTS: dict[str, tuple[str, Callable[[ConfigFile, ConfigExpectations], Report]]] = {
    "syntax": ("a text that does not read in its format, or gives a key twice", syntax),
    "required": (
        "what a schema or `paths` misses, names that are not defined, placeholders",
        check_required,
    ),
    "variables": (
        "variables from outside without a default, a definition or a comment",
        variables,
    ),
    "secrets": ("hard-coded secrets, by detect-secrets", secrets),
    "defaults": (
        "services without `restart`, jobs without `timeout-minutes`, settings without a value",
        defaults,
    ),
    "comments": ("fewer comments than one for so many lines", comments),
    "portability": (
        "images and actions without a fixed version, paths into a person's home",
        portability,
    ),
    "permissions": ("rights that are not needed, modes that let everybody write", permissions),
}
"""What may be looked at: what it finds, in words, and who finds it."""


def _make(params: Mapping[str, Any]) -> Judge:
    _, aspect = ASPECTS[params["configuration"]]
    expected, kind = _expectations(params), params.get("kind", AUTO)

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        found = read_config(artifact, kind)
        if isinstance(found, ConfigFile):
            missing = "" if aspect in (syntax, check_required) else find_missing_part(found)
            if missing:
                return Report(unmeasured=f"{missing} is missing: there is nothing to look at")
            return aspect(found, expected)
        return found if aspect is syntax else found.without_verdict()

    return judge


def _expectations(params: Mapping[str, Any]) -> ConfigExpectations:
    aspect = params["configuration"]
    for key, owner in (("paths", "required"), ("lines_per_comment", "comments")):
        if key in params and aspect != owner:
            raise ValueError(f"{key} goes with {owner}, not with {aspect}")
    wanted = []
    for text in params.get("paths", ()):
        try:
            wanted.append((text, paths.parse(text)))
        except paths.PathSyntaxError as error:
            raise ValueError(str(error)) from None
    return ConfigExpectations(tuple(wanted), params.get("lines_per_comment", LINES_PER_COMMENT))


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(t, str) and t for t in value)


KIND = StructureKind(
    key="configuration",
    make=_make,
    forbids=lambda params: True,
    value=aspect_of(ASPECTS),
    beside={
        "kind": word_of((AUTO, *KINDS)).means(
            "what the file is for; `plain` where no more is known than its format", f"`{AUTO}`"
        ),
        "paths": ParameterType(
            "a list of paths such as server.port, which may be empty",
            _is_list_of_texts,
            lambda text: [part.strip() for part in text.split(",") if part.strip()],
            schema={"type": "array", "items": {"type": "string"}},
        ).means("with `required`: paths that have to be there", "none"),
        "lines_per_comment": POSITIVE.means(
            "with `comments`: how many lines of settings want one comment", str(LINES_PER_COMMENT)
        ),
    },
)
