"""Which format a configuration file has, and its data with the lines of keys.

The name decides where it says something; the text decides where it does not, since a loop calls
every artifact artifact.md.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.finding import Finding, Report, missing_extra
from pytest_reflex.checks.structure.configuration.file import ConfigFile, Format
from pytest_reflex.checks.structure.configuration.meanings import KINDS, meaning_of
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.text.data import Data, read_data, refuse_large
from pytest_reflex.text.lines import DataSyntaxError, bare
from pytest_reflex.text.places import has_comments, plain_json, without_comments
from pytest_reflex.text.yaml_data import Marks

_TABLE_HEADER = re.compile(r"[ \t]*\[(\[?)([^\]\n]+)\]")
_TOML_KEY = re.compile(
    r"""[ \t]*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*[\w"'-]+)*)[ \t]*="""
)
_INI_KEY = re.compile(r"([^\s=:#;\[][^=:\n]*?)[ \t]*(?:[=:]|$)")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def toml_lines(text: str, value: Any) -> Marks:
    """Return the lines of keys by table; what stands inside an inline table is not looked for."""
    marks: Marks = {}
    table, tables = value, dict[int, int]()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _TABLE_HEADER.match(line):
            table = _walk(value, _parts(header[2]), number, marks, tables, bool(header[1]))
        elif (key := _TOML_KEY.match(line)) and table is not None:
            _walk(table, _parts(key[1]), number, marks, {}, False)
    return marks


def ini_lines(text: str, value: dict[str, dict[str, Any]]) -> Marks:
    """Return the lines of sections and of the keys in them."""
    marks: Marks = {}
    table: dict[str, Any] = value
    for number, line in enumerate(text.split("\n"), start=1):
        if (header := _TABLE_HEADER.match(line)) and header[2] in value:
            table = value[header[2]]
            _mark(marks, value, header[2], number)
        elif (key := _INI_KEY.match(line)) and key[1] in table:
            _mark(marks, table, key[1], number)
    return marks


def _walk(
    value: Any, parts: list[str], number: int, marks: Marks, counts: dict[int, int], many: bool
) -> Any:
    """Mark the keys on the way down; return what stands at the end, None where nothing does."""
    for index, part in enumerate(parts):
        if not isinstance(value, dict) or part not in value:
            return None
        _mark(marks, value, part, number)
        value = value[part]
        if isinstance(value, list) and value:
            last = index == len(parts) - 1
            if last and not many:
                return value
            counts[id(value)] = min(counts.get(id(value), -1) + last, len(value) - 1)
            position = max(counts[id(value)], 0)
            _mark(marks, value, position, number)
            value = value[position]
    return value


def _mark(marks: Marks, table: Any, key: Any, number: int) -> None:
    marks.setdefault(id(table), {}).setdefault(key, number)


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]


_INDENTED = "an indented line after a key without a value"
_TOP = "\0"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a file may do beyond what Python's own reader takes."""

    before_sections: bool = False
    repeats: bool = False


class _Repeated(dict[str, Any]):
    """A section in which a key that comes again adds to what it had."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and isinstance(self.get(key), list):
            value = [*self[key], *value]
        super().__setitem__(key, value)


def read_ini(text: str, dialect: Dialect) -> tuple[Data, ...]:
    """Return sections and settings; raises DataSyntaxError."""
    shift = int(dialect.before_sections)
    # No section is the default of the others: DEFAULT is shown as it is written.
    parser = configparser.ConfigParser(
        interpolation=None,
        allow_no_value=True,
        default_section="",
        strict=not dialect.repeats,
        dict_type=_Repeated if dialect.repeats else dict,
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(f"[{_TOP}]\n{text}" if shift else text)
    except configparser.DuplicateOptionError as error:
        where = "" if error.section == _TOP else f" in [{error.section}]"
        reason = f"duplicate key {error.option!r}{where}"
        raise DataSyntaxError(reason, (error.lineno or 0) - shift) from None
    except configparser.DuplicateSectionError as error:
        line = (error.lineno or 0) - shift
        raise DataSyntaxError(f"duplicate section [{error.section}]", line) from None
    except configparser.MissingSectionHeaderError as error:
        raise DataSyntaxError("a setting before the first [section]", error.lineno) from None
    except AttributeError:  # what Python before 3.13 makes of an indented line after it
        raise DataSyntaxError(_INDENTED) from None
    except configparser.ParsingError as error:
        if not hasattr(error, "errors"):
            raise DataSyntaxError(_INDENTED, getattr(error, "lineno", 0)) from None
        line = error.errors[0][0] - shift if error.errors else 0
        raise DataSyntaxError("neither a [section] nor a setting", line) from None
    value: dict[str, Any] = {}
    for name in parser.sections():
        if broken := next((key for key in parser[name] if key.startswith("[")), None):
            raise DataSyntaxError("a section without its ]", _line_of(broken, text))
        table = {key: _values(text, dialect) for key, text in parser[name].items()}
        value |= table if name == _TOP else {name: table}
    return (Data(value, "ini", text, 1, ini_lines(text, value)),)


def _line_of(start: str, text: str) -> int:
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if line.lstrip().startswith(start)), 0)


def _values(text: str | None, dialect: Dialect) -> Any:
    if text and dialect.repeats and "\n" in text:
        return text.split("\n")
    return text


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
    refuse_large(text, _CONFIGURATION, MAX_CHARACTERS)
    named = _FILLED_IN.sub("", name) or name
    if unsupported := _unsupported_reason(named, text):
        return _unknown(f"{name} is {unsupported}, which is not read: {_KNOWN}")
    if (PurePath(named).suffix.lower() or named.lower()) in _PROGRAMS:
        return _unknown(f"{name} is in no format that is read: {_KNOWN}")
    form = _format_by_name(artifact, named) or _sniff(text)
    if form is Format.ENV and (lack := missing_extra("dotenv")):
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


def _unsupported_reason(name: str, text: str) -> str:
    suffix = PurePath(name).suffix.lower()
    if suffix in _UNSUPPORTED:
        return _UNSUPPORTED[suffix]
    if suffix not in _SAYS_NOTHING:
        return ""
    if text.lstrip().startswith("<?xml"):
        return _UNSUPPORTED[".xml"]
    return _UNSUPPORTED[".tf"] if _HCL.search(text) else ""


def _format_by_name(artifact: Artifact, name: str) -> Format | None:
    if _ENV_NAME.fullmatch(name):
        return Format.ENV
    places = (artifact.path, PurePath(artifact.name))
    if any(has_comments(place.with_name(name)) for place in places):
        return Format.JSONC
    suffix = PurePath(name).suffix.lower() or name
    if {suffix, name.lower()} & (_REPEATING | _LOOSE) or _REPEATING_NAMES.fullmatch(name):
        return Format.INI
    return _SUFFIXES.get(suffix)


def _sniff(text: str) -> Format:
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
