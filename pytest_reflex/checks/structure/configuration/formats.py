"""Which format a configuration file has, and its data with the lines of their keys.

The name decides where it says something; the text decides where it does not, since a loop calls
every artifact artifact.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.configuration.ini import Dialect, read_ini
from pytest_reflex.checks.configuration.key_lines import toml_lines
from pytest_reflex.checks.finding import Finding, Report, lacking
from pytest_reflex.checks.structure.configuration.file import ConfigFile, Format
from pytest_reflex.checks.structure.configuration.meanings import KINDS, meaning_of
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.text.data import Data, read_data
from pytest_reflex.text.jsonc import has_comments, plain_json, without_comments
from pytest_reflex.text.lines import DataSyntaxError, bare

MAX_CHARACTERS = 2_000_000

_SUFFIXES = {
    **dict.fromkeys((".yaml", ".yml"), Format.YAML),
    ".json": Format.JSON,
    ".toml": Format.TOML,
    **dict.fromkeys((".ini", ".cfg"), Format.INI),
    ".env": Format.ENV,
}
_REPEATING_TEXT = """
    .automount .device .link .mount .netdev .network .nspawn .path .scope .service .slice
    .socket .swap .target .timer .container .gitconfig .gitmodules"""
_REPEATING = frozenset(_REPEATING_TEXT.split())
"""Endings, and names without one, of INI files in which a key may come again (systemd, git)."""

_REPEATING_NAMES = re.compile(r"(?:uwsgi[\w-]*|[\w-]+[._-]uwsgi)\.ini|wg\d*\.conf", re.IGNORECASE)
_LOOSE_TEXT = ".editorconfig .npmrc .properties .desktop .pylintrc .hgrc php.ini .user.ini my.cnf"
_LOOSE = frozenset(_LOOSE_TEXT.split())
"""The same of INI files in which settings may stand before the first section."""

_UNSUPPORTED = {
    **dict.fromkeys((".tf", ".tfvars", ".hcl", ".nomad"), "HCL (Terraform and the like)"),
    **dict.fromkeys((".xml", ".plist", ".csproj", ".fsproj", ".vbproj", ".props", ".xsd"), "XML"),
}
_PROGRAMS_TEXT = """
    .bat .bicep .c .cc .cpp .cs .css .gradle .go .groovy .html .java .js .kt .kts .lua .mjs .php .pl
    .proto .ps1 .py .r .rb .rs .scss .sh .sql .swift .ts .tsx .zsh dockerfile makefile jenkinsfile
    .nix .cue .dhall .jsonnet .libsonnet .pkl
    caddyfile vagrantfile containerfile justfile rakefile gemfile"""
_PROGRAMS = frozenset(_PROGRAMS_TEXT.split())
"""Endings and names of code and of languages of their own, of which a part may read as YAML."""

_HCL = re.compile(
    r"^(?:resource|variable|provider|module|terraform|data|output|locals)\b[^\n=:]*\{[ \t]*$", re.M
)
_SAYS_NOTHING = frozenset({"", ".md", ".txt"})
_FILLED_IN = re.compile(r"[._-](?:example|sample|template|tmpl|dist)$", re.IGNORECASE)
_ENV_NAME = re.compile(r"\.env([._-].+)?", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*=(?!=)")
_LIKE_JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[{"])')
_HEADER = re.compile(r"\s*\[[^\]\n]+\]\]?\s*(?:[#;].*)?$")
_UNIT = re.compile(r"^\[(?:Unit|Service|Install|Socket|Timer|Mount|Match|Network|Peer)\]\s*$", re.M)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONFIGURATION = "configuration"
_KNOWN = "YAML, JSON, TOML, INI and env files are"


def read_config(artifact: Artifact, kind: str = "") -> ConfigFile | Report:
    """Return what the artifact holds, or the report of why it cannot be read.

    `kind` is the word of KINDS that says what it is for, where its author says so.
    """
    name = PurePath(artifact.name).name
    text = artifact.text
    if len(text) > MAX_CHARACTERS:
        raise ArtifactError(
            f"too large to read as configuration: {len(text):,} characters, "
            f"the limit is {MAX_CHARACTERS:,}",
            hint="split it, or use an executable check",
            reading=_CONFIGURATION,
        )
    named = _FILLED_IN.sub("", name) or name
    if unsupported := _unsupported(named, text):
        return _unknown(f"{name} is {unsupported}, which is not read: {_KNOWN}")
    if (PurePath(named).suffix.lower() or named.lower()) in _PROGRAMS:
        return _unknown(f"{name} is in no format that is read: {_KNOWN}")
    form = _named(artifact, named) or _sniffed(text)
    if form is Format.ENV and (lack := lacking("dotenv")):
        return lack
    try:
        documents = _read(form, named, text)
    except DataSyntaxError as error:
        message = f"not valid as {form.value}: {error.message()}"
        # Comments do not make another language of it.
        reading = "JSON" if form is Format.JSONC else form.value
        return Report([Finding(message, max(error.line, 1), error.column)], reading=reading)
    if not any(d.value and isinstance(d.value, dict | list) for d in documents):
        unnamed = PurePath(named).suffix not in {*_SUFFIXES, *_SAYS_NOTHING}
        if form is Format.YAML and (unnamed or named.startswith(".")):
            return _unknown(f"{name} is in no format that is read: {_KNOWN}")
        empty = Finding(f"there is no setting in it (read as {form.value})", 1)
        return Report([empty], reading=_CONFIGURATION)
    meaning = KINDS.get(kind) or meaning_of(artifact.name, artifact.path, form, documents)
    return ConfigFile(name, text, form, meaning, documents, _folder(artifact))


def _unknown(why: str) -> Report:
    return Report([Finding(why)], unmeasured=why, reading=_CONFIGURATION)


def _folder(artifact: Artifact) -> Path:
    return artifact.base or artifact.path.parent


def _unsupported(name: str, text: str) -> str:
    suffix = PurePath(name).suffix.lower()
    if suffix in _UNSUPPORTED:
        return _UNSUPPORTED[suffix]
    if suffix not in _SAYS_NOTHING:
        return ""
    if text.lstrip().startswith("<?xml"):
        return _UNSUPPORTED[".xml"]
    return _UNSUPPORTED[".tf"] if _HCL.search(text) else ""


def _named(artifact: Artifact, name: str) -> Format | None:
    if _ENV_NAME.fullmatch(name):
        return Format.ENV
    places = (artifact.path, PurePath(artifact.name))
    if any(has_comments(place.with_name(name)) for place in places):
        return Format.JSONC
    suffix = PurePath(name).suffix.lower() or name
    if {suffix, name.lower()} & (_REPEATING | _LOOSE) or _REPEATING_NAMES.fullmatch(name):
        return Format.INI
    return _SUFFIXES.get(suffix)


def _sniffed(text: str) -> Format:
    lines = [line for line in bare(text) if line.strip() and line.strip()[0] not in "#;"]
    first = lines[0] if lines else ""
    clean = without_comments(text)
    if _LIKE_JSON.match(clean) or _reads(text, "json"):
        return Format.JSON if clean == text else Format.JSONC
    if _HEADER.match(first) or ("=" in first and any(map(_HEADER.match, lines))):
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


def _read(form: Format, name: str, text: str) -> tuple[Data, ...]:
    if form is Format.INI:
        return read_ini(text, _dialect(name, text))
    if form is Format.JSONC:
        return read_data(plain_json(text), "json")
    return _READERS[form](text)


def _dialect(name: str, text: str) -> Dialect:
    suffix = PurePath(name).suffix.lower() or name
    repeats = suffix in _REPEATING or bool(_REPEATING_NAMES.fullmatch(name))
    repeats = repeats or (suffix in _SAYS_NOTHING and bool(_UNIT.search(text)))
    loose = bool({suffix, name.lower()} & _LOOSE) or suffix in _SAYS_NOTHING
    return Dialect(before_sections=loose, repeats=repeats)


def _data_reader(language: str) -> Callable[[str], tuple[Data, ...]]:
    return lambda text: read_data(text, language)


def _read_toml(text: str) -> tuple[Data, ...]:
    (data,) = read_data(text, "toml")
    return (Data(data.value, "toml", text, 1, toml_lines(text, data.value)),)


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
            raise DataSyntaxError(f"{binding.key!r} is not a name of a variable", line)
        if binding.key in value:
            reason = f"duplicate name {binding.key!r}"
            raise DataSyntaxError(reason, line, other=", first", other_line=lines[binding.key])
        value[binding.key], lines[binding.key] = binding.value, line
    return (Data(value, "env", text, 1, {id(value): lines}),)


_READERS: dict[Format, Callable[[str], tuple[Data, ...]]] = {
    Format.YAML: _data_reader("yaml"),
    Format.JSON: _data_reader("json"),
    Format.TOML: _read_toml,
    Format.ENV: _read_env,
}
