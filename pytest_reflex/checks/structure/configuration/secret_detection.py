"""Hard-coded secrets, by the detectors of detect-secrets (extra `secrets`) within a bound.

Nearly every line of a long file holds none. So each form is looked for in many lines at once, and
in the lines themselves only where the many have it somewhere.

Promises: no detector asks the network whether a secret is alive; no message holds the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pytest_reflex.checks.finding import Finding, Report, missing_extra
from pytest_reflex.checks.structure.configuration.file import (
    ConfigExpectations,
    ConfigFile,
    ConfigValue,
    Format,
    Meaning,
)
from pytest_reflex.checks.structure.configuration.secret_names import (
    is_documented,
    is_dummy,
    is_in_clear,
    kind_of_secret,
    leads_elsewhere,
    names_an_object,
)
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.lines import bare

LINES_AT_ONCE = 200
PIECE = 20_000  # characters of a line that are looked at at once
OVERLAP = 4_000
MAX_WORK = 500_000_000  # steps of the detectors' patterns; about 6 s

# From each of these a pattern of the detectors runs on to the end of its line.
_GAP = re.compile(r"[\s\"'`,;{}\[\]()<>]")
_BEGINNINGS = ("sk-", "eyJ", "//")


@dataclass(frozen=True, slots=True)
class DetectorPattern:
    """A detector, and its patterns as they look for it in many lines at once."""

    detector: Any
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, detector: Any) -> DetectorPattern:
        return cls(
            detector, tuple(re.compile(p.pattern, p.flags | re.M) for p in detector.denylist)
        )

    def is_in(self, lines: str) -> bool:
        return any(pattern.search(lines) for pattern in self.patterns)


def pieces_of(line: str) -> Iterator[str]:
    """Yield a line, or of a very long one pieces that share what is at their ends.

    What is no longer than `OVERLAP` is whole in one of them. They begin and end between words where
    there is such a place, so that no piece shows a form that the line has not.
    """
    begin = 0
    while len(line) - begin > PIECE:
        end = begin + PIECE
        shared = end - OVERLAP
        gaps = [shared + found.end() for found in _GAP.finditer(line[shared:end])]
        has_words = bool(gaps) and gaps[-1] - gaps[0] >= OVERLAP // 2
        yield line[begin : gaps[-1] if has_words else end]
        begin = gaps[0] if has_words else shared
    yield line[begin:]


class SearchBudget:
    """The steps that are left; raises ArtifactError, with the line, once there are none."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def pay_for_line(self, number: int, line: str) -> None:
        self._pay(number, sum(line.count(begin) for begin in _BEGINNINGS) * len(line))

    def _pay(self, number: int, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise ArtifactError(
                "too much in it begins as a secret does to look at all of it: "
                f"it was given up at line {number}",
                hint="split the file, or use an executable check",
            )


def suspects(
    lines: Sequence[str], forms: Sequence[DetectorPattern]
) -> Iterator[tuple[int, str, Any]]:
    """Yield number, line and detector where the line, or one near it, has the detector's form.

    No line that has one is left out: a line end is to each pattern what an end of the text is.
    """
    for first in range(0, len(lines), LINES_AT_ONCE):
        some = lines[first : first + LINES_AT_ONCE]
        together = "\n".join(some)
        likely = [form.detector for form in forms if form.is_in(together)]
        for number, line in enumerate(some if likely else (), start=first + 1):
            for detector in likely:
                yield number, line, detector


LONGEST_LINE = 20_000
_DIFFERENT = 8  # fewer different characters have less entropy than the lowest limit, 3 bits
_LEFT_OUT = frozenset({"IPPublicDetector", "KeywordDetector"})
_DIGEST = re.compile(
    r"sha\d*|hash|digest|sum$|integrity|rev|commit|head$|ref$|etag|fingerprint|uuid|guid|resolved"
    r"|signature|cache_?key|public_?key|encrypted|^(?:mac|enc|fp|secure)$",
    re.IGNORECASE,
)
"""Names of what is random and known to all."""

_DIGEST_VALUE = re.compile(r"sha\d+[-:]|md5[-:]|data:|h1:|ssh-|age1")
_LOCKED = re.compile(r".*[-.]?lock(?:file)?\.\w+|.*\.lock|npm-shrinkwrap\.json", re.IGNORECASE)
_PACKAGES = re.compile(r"dependencies(?:Meta)?$|^(?:overrides|resolutions)$", re.IGNORECASE)
"""Tables whose keys are names of packages."""

_ENTRY_POINTS = frozenset({"entry-points", "entry_points", "scripts", "gui-scripts", "plugins"})
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?:\s*\[[\w, -]*\])?")
"""A module and what is in it, as tables of entry points name it: pkg.module:Class."""

_FOR_TESTS = re.compile(
    r"(?:^|[._-])(?:tests?|testing|ci|e2e|integration)(?=[._-]|$)", re.IGNORECASE
)
_HERE = r"(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\]|[A-Za-z][\w-]*)"
"""This machine, or a service by its name alone."""

_NEAR = rf"{_HERE}(?=[:/?\s\"'`]|$)"
_OF_NEAR = re.compile(rf"(?:server|host|data source)\s*=\s*{_HERE}(?=[:;,\s]|$)", re.IGNORECASE)
_CONNECTION = re.compile(
    r"\s*[A-Za-z][\w ]{0,40}=[^;=]*;\s*[A-Za-z][\w ]{0,40}="
    r"|(?:host|dbname|user|port)=\S*\s+[a-z_]+=",
    re.IGNORECASE,
)
"""How a text begins that says by pairs how to reach a database."""

_CONNECTION_PASSWORD = re.compile(r"\b(?:password|pwd)\s*=\s*'?([^;\s']+)", re.IGNORECASE)
_TAG = r"!(?i:ref|getatt|importvalue|secrets?|env(?:_var)?|var|include|file|vault|ssm|input)\s"
"""Tags of YAML behind which the name stands of what is put in."""

_ENCRYPTED = frozenset({"sops", "encryptedData"})
"""Tables of what is encrypted."""

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})")
_WORD_PATH = re.compile(r"[./_-]*[A-Za-z]{2,}(?:[./_-]+[A-Za-z]{2,})*(?:[./_-]*\d{1,4})?")


@dataclass(frozen=True, slots=True)
class _Detectors:
    by_form: tuple[DetectorPattern, ...]
    by_entropy: tuple[Any, ...]


def secrets(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find values that have the form of a secret, or a name that says they are one."""
    if lack := missing_extra("detect_secrets"):
        return lack
    found: dict[int, Finding] = {}
    budget = SearchBudget()
    for finding in (*_by_form(config, budget), *_by_value(config)):
        found.setdefault(finding.line, finding)
    return Report([found[line] for line in sorted(found)], "no hard-coded secret")


def _by_form(config: ConfigFile, budget: SearchBudget) -> Iterator[Finding]:
    lines = bare(config.text)
    pieces = [(n, piece) for n, line in enumerate(lines, start=1) for piece in pieces_of(line)]
    for number, piece in pieces:
        budget.pay_for_line(number, piece)
    from detect_secrets.plugins.basic_auth import BasicAuthDetector

    for index, piece, detector in suspects([text for _, text in pieces], _detectors().by_form):
        number = pieces[index - 1][0]
        line = lines[number - 1]
        spared = config.is_example or line.lstrip()[:1] in ("#", ";")
        spared = spared and isinstance(detector, BasicAuthDetector)
        for secret in detector.analyze_string(piece):
            if config.is_example and is_documented(secret):
                continue
            if spared and is_dummy(secret):
                continue
            if isinstance(detector, BasicAuthDetector) and _is_thrown_away(config, piece, secret):
                continue
            if not leads_elsewhere(secret):
                message = f"looks like a hard-coded secret: {detector.secret_type}"
                yield Finding(message, number, line.find(secret) + 1)


def _is_thrown_away(config: ConfigFile, line: str, secret: str) -> bool:
    """Return whether a password in an address is that of a service which lives for a test run."""
    return _is_for_tests(config) and bool(re.search(f":{re.escape(secret)}@{_NEAR}", line))


def _is_for_tests(config: ConfigFile) -> bool:
    names = (config.name, config.folder.name if config.folder else "")
    return config.meaning is Meaning.WORKFLOW or (
        config.meaning is Meaning.COMPOSE and any(map(_FOR_TESTS.search, names))
    )


def _by_value(config: ConfigFile) -> Iterator[Finding]:
    detectors = _detectors()
    named = not config.is_locale
    for setting in config.settings():
        value = setting.value
        folders = set(map(str, setting.path[:-1]))
        if not _ENCRYPTED.isdisjoint(folders) or any(map(_PACKAGES.search, folders)):
            continue
        if named and _says_secret(setting, value, config):
            yield setting.finding(f"{setting.name} is a hard-coded secret")
        elif isinstance(value, str) and (kind := _is_random(detectors, setting, value, config)):
            yield setting.finding(f"{setting.name} looks like a hard-coded secret: {kind}")


def _says_secret(setting: ConfigValue, value: Any, config: ConfigFile) -> bool:
    if not _ENTRY_POINTS.isdisjoint(setting.path[:-1]) and _OBJECT.fullmatch(str(value)):
        return False
    kind = kind_of_secret(setting.name)
    if not kind:
        return isinstance(value, str) and _connects_by_secret(value, config)
    if names_an_object(setting.name, value) or _is_tagged(setting, config):
        return False
    return is_in_clear(kind, value, example=config.is_example)


def _connects_by_secret(value: str, config: ConfigFile) -> bool:
    """Return whether the password of a connection string stands in it."""
    if not _CONNECTION.match(value) or (_is_for_tests(config) and _OF_NEAR.search(value)):
        return False
    given = (found[1] for found in _CONNECTION_PASSWORD.finditer(value))
    return any(is_in_clear("password", text, example=config.is_example) for text in given)


def _is_tagged(setting: ConfigValue, config: ConfigFile) -> bool:
    """Return whether a tag of YAML says that a tool puts the value in (`!secret`, `!Ref`)."""
    line = bare(config.text)[setting.line - 1]
    key = re.escape(str(setting.path[-1]))
    return config.format is Format.YAML and bool(re.search(rf"{key}[\"']?\s*:\s+{_TAG}", line))


def _is_random(detectors: _Detectors, setting: ConfigValue, value: str, config: ConfigFile) -> str:
    from detect_secrets.filters.heuristic import is_potential_uuid, is_sequential_string

    if len(value) > LONGEST_LINE or "\n" in value or leads_elsewhere(value):
        return ""
    if len(set(value)) < _DIFFERENT or _LOCKED.fullmatch(config.name):
        return ""
    if _DIGEST.search(setting.name) or _DIGEST_VALUE.match(value) or _WORD_PATH.fullmatch(value):
        return ""
    if _SHA.fullmatch(value) or (config.is_example and is_documented(value)):
        return ""
    if is_potential_uuid(value) or is_sequential_string(value):
        return ""
    for detector in detectors.by_entropy:
        for secret in detector.analyze_string(f'"{value}"'):
            if detector.calculate_shannon_entropy(secret) > detector.entropy_limit:
                return str(detector.secret_type)
    return ""


@cache
def _detectors() -> _Detectors:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import (
        Base64HighEntropyString,
        HexHighEntropyString,
    )

    known: Any = get_mapping_from_secret_type_to_class().values()
    by_form = tuple(
        DetectorPattern.of(kind())
        for kind in known
        if issubclass(kind, RegexBasedDetector) and kind.__name__ not in _LEFT_OUT
    )
    return _Detectors(
        by_form,
        (Base64HighEntropyString(), HexHighEntropyString()),
    )
