"""Which format a configuration file has, and its data with the lines of their keys.

The name decides where it says something; the text decides where it does not, since a loop calls
every artifact artifact.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.configuration.file import ConfigFile, Format, Meaning
from pytest_reflex.checks.configuration.key_lines import ini_lines, toml_lines
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.documents.data import Data, read_data
from pytest_reflex.documents.lines import DataSyntaxError, bare
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.extras import missing

MAX_CHARACTERS = 2_000_000

_SUFFIXES = {
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
    ".json": Format.JSON,
    ".toml": Format.TOML,
    ".ini": Format.INI,
    ".cfg": Format.INI,
    ".env": Format.ENV,
}
_ENV_NAME = re.compile(r"\.env(\..+)?", re.IGNORECASE)
_COMPOSE_NAME = re.compile(r"(docker-)?compose[\w.-]*\.ya?ml", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*=(?!=)")
_LIKE_JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[{"])')
_HEADER = re.compile(r"\s*\[[^\]\n]+\]\]?\s*(?:[#;].*)?$")
_SERVICE_KEYS = frozenset({"image", "build", "extends", "ports", "environment", "volumes"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDENTED = "an indented line after a key without a value"


def read_config(artifact: Artifact) -> ConfigFile | Report:
    """Return what the artifact holds, or the report of why it cannot be read."""
    name = PurePath(artifact.name).name
    text = artifact.text
    if len(text) > MAX_CHARACTERS:
        raise ArtifactError(
            f"too large to read as configuration: {len(text):,} characters, "
            f"the limit is {MAX_CHARACTERS:,}",
            hint="split it, or use an executable check",
        )
    format_ = _named(name) or _sniffed(text)
    if format_ is Format.ENV and (why := missing("dotenv")):
        return Report(unmeasured=why)
    try:
        documents = _READERS[format_](text)
    except DataSyntaxError as error:
        message = f"not valid as {format_.value}: {error.message()}"
        return Report([Finding(message, max(error.line, 1), error.column)])
    if not any(d.value and isinstance(d.value, dict | list) for d in documents):
        return Report([Finding(f"there is no setting in it (read as {format_.value})", 1)])
    return ConfigFile(name, text, format_, _meaning(artifact, format_, documents), documents)


def _named(name: str) -> Format | None:
    if _ENV_NAME.fullmatch(name):
        return Format.ENV
    path = PurePath(name)
    return _SUFFIXES.get(path.suffix.lower())


def _sniffed(text: str) -> Format:
    lines = [line for line in bare(text) if line.strip() and line.strip()[0] not in "#;"]
    first = lines[0] if lines else ""
    if _LIKE_JSON.match(text) or _reads(text, "json"):
        return Format.JSON
    if _HEADER.match(first):
        return Format.TOML if _reads(text, "toml") else Format.INI
    if _ASSIGNMENT.match(first):
        return Format.ENV
    return Format.TOML if "=" in first and _reads(text, "toml") else Format.YAML


def _reads(text: str, language: str) -> bool:
    try:
        read_data(text, language)
    except DataSyntaxError:
        return False
    return True


def _meaning(artifact: Artifact, format_: Format, documents: tuple[Data, ...]) -> Meaning:
    top = documents[0].value if len(documents) == 1 else None
    if format_ not in (Format.YAML, Format.JSON) or not isinstance(top, dict):
        return Meaning.PLAIN
    services, path = top.get("services"), artifact.path
    if _COMPOSE_NAME.fullmatch(PurePath(artifact.name).name) or _are_services(services):
        return Meaning.COMPOSE
    in_place = path.parent.name == "workflows" and path.parent.parent.name == ".github"
    if in_place or (isinstance(top.get("jobs"), dict) and "on" in top):
        return Meaning.WORKFLOW
    return Meaning.PLAIN


def _are_services(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return all(isinstance(s, dict) and not _SERVICE_KEYS.isdisjoint(s) for s in value.values())


def _data_reader(language: str) -> Callable[[str], tuple[Data, ...]]:
    return lambda text: read_data(text, language)


def _read_toml(text: str) -> tuple[Data, ...]:
    (data,) = read_data(text, "toml")
    return (Data(data.value, "toml", text, 1, toml_lines(text, data.value)),)


def _read_ini(text: str) -> tuple[Data, ...]:
    import configparser

    # No section is the default of the others: DEFAULT is shown as it is written.
    parser = configparser.ConfigParser(interpolation=None, allow_no_value=True, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.DuplicateOptionError as error:
        reason = f"duplicate key {error.option!r} in [{error.section}]"
        raise DataSyntaxError(reason, error.lineno or 0) from None
    except configparser.DuplicateSectionError as error:
        raise DataSyntaxError(f"duplicate section [{error.section}]", error.lineno or 0) from None
    except configparser.MissingSectionHeaderError as error:
        raise DataSyntaxError("a setting before the first [section]", error.lineno) from None
    except AttributeError:  # what Python before 3.13 makes of an indented line after it
        raise DataSyntaxError(_INDENTED) from None
    except configparser.ParsingError as error:
        if not hasattr(error, "errors"):
            raise DataSyntaxError(_INDENTED, getattr(error, "lineno", 0)) from None
        line = error.errors[0][0] if error.errors else 0
        raise DataSyntaxError("neither a [section] nor a setting", line) from None
    value = {name: dict(parser[name]) for name in parser.sections()}
    return (Data(value, "ini", text, 1, ini_lines(text, value)),)


def _read_env(text: str) -> tuple[Data, ...]:
    from dotenv.parser import parse_stream

    value: dict[str, str | None] = {}
    lines: dict[Any, int] = {}
    for binding in parse_stream(StringIO(text)):
        source = binding.original.string
        blank = source[: len(source) - len(source.lstrip())]
        line = binding.original.line + blank.count("\n")
        if binding.error:
            raise DataSyntaxError("neither NAME=value nor a comment", line)
        if binding.key is None:
            continue
        if not _VARIABLE.fullmatch(binding.key):
            raise DataSyntaxError(f"{binding.key!r} is no name of a variable", line)
        if binding.key in value:
            reason = f"duplicate name {binding.key!r}"
            raise DataSyntaxError(reason, line, other=", first", other_line=lines[binding.key])
        value[binding.key], lines[binding.key] = binding.value, line
    return (Data(value, "env", text, 1, {id(value): lines}),)


_READERS: dict[Format, Callable[[str], tuple[Data, ...]]] = {
    Format.YAML: _data_reader("yaml"),
    Format.JSON: _data_reader("json"),
    Format.TOML: _read_toml,
    Format.INI: _read_ini,
    Format.ENV: _read_env,
}
