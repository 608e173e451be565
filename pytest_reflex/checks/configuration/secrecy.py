"""Secrets written in clear, by the detectors of detect-secrets (extra `secrets`).

Promises: no detector asks the network whether a secret is alive; no message holds the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pytest_reflex.checks.configuration.file import ConfigFile, Setting, Wishes, texts
from pytest_reflex.checks.configuration.secret_lines import Form, Purse, suspects
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.documents.lines import bare
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.extras import missing

LONGEST_LINE = 20_000
_DIFFERENT = 8  # fewer different characters have less entropy than the lowest limit, 3 bits
_LEFT_OUT = frozenset({"IPPublicDetector", "KeywordDetector"})
_ELSEWHERE = re.compile(r"\$|%[(\w]|/|\./|~/|\{\{|<[^<>]+>$|file:|vault:|ref\+|inherit$|env\.")
"""How a value begins that says where the secret is, and is none."""

_POINTS = re.compile(r"(?:file|path|name|ref|arn|url|uri|id|length|policy|hash|algorithm)$", re.I)
_DIGEST = re.compile(r"sha\d*|hash|digest|checksum|integrity|rev|commit|fingerprint|uuid", re.I)


@dataclass(frozen=True, slots=True)
class _Detectors:
    by_form: tuple[Form, ...]
    by_entropy: tuple[Any, ...]
    by_name: Any
    names: re.Pattern[str]


def secrets(config: ConfigFile, wishes: Wishes) -> Report:
    """Find values that have the form of a secret, or a name that says they are one."""
    if why := missing("detect_secrets"):
        return Report(unmeasured=why)
    found: dict[int, Finding] = {}
    purse = Purse()
    for finding in (*_by_form(config, purse), *_by_value(config, purse)):
        found.setdefault(finding.line, finding)
    return Report([found[line] for line in sorted(found)], "no secret is written in clear")


def _by_form(config: ConfigFile, purse: Purse) -> Iterator[Finding]:
    lines = bare(config.text)
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise ArtifactError(
                f"line {number} is too long to look for secrets: {len(line):,} characters, "
                f"the limit is {LONGEST_LINE:,}"
            )
        purse.pay_for_line(number, line)
    for number, line, detector in suspects(lines, _detectors().by_form):
        for secret in detector.analyze_string(line):
            if not _is_elsewhere(secret):
                yield Finding(f"it looks like a secret: {detector.secret_type}", number)


def _by_value(config: ConfigFile, purse: Purse) -> Iterator[Finding]:
    detectors = _detectors()
    for setting, value in texts(config):
        if len(value) > LONGEST_LINE or "\n" in value or _is_elsewhere(value):
            continue
        if _says_secret(detectors, setting, value, purse):
            yield Finding(f"{setting.name} holds a secret in clear", setting.line)
        elif kind := _is_random(detectors, setting, value):
            yield Finding(f"{setting.name} looks like a secret: {kind}", setting.line)


def _says_secret(detectors: _Detectors, setting: Setting, value: str, purse: Purse) -> bool:
    from detect_secrets.filters.heuristic import is_not_alphanumeric_string

    if setting.name == "secrets" or _POINTS.search(setting.name):
        return False  # names of secrets, or the way to them
    plain = value.replace('"', "").replace("'", "")
    assigned = f'{setting.name} = "{plain}"'
    names = len(detectors.names.findall(assigned))
    if not names or is_not_alphanumeric_string(value):
        return False
    spared = purse.pay_for_names(setting.line, names, assigned)
    if not any(True for _ in detectors.by_name.analyze_string(assigned)):
        return False
    purse.give_back(spared)
    return True


def _is_random(detectors: _Detectors, setting: Setting, value: str) -> str:
    from detect_secrets.filters.heuristic import is_potential_uuid, is_sequential_string

    if len(set(value)) < _DIFFERENT:
        return ""
    if _DIGEST.search(setting.name) or is_potential_uuid(value) or is_sequential_string(value):
        return ""
    for detector in detectors.by_entropy:
        for secret in detector.analyze_string(f'"{value}"'):
            if detector.calculate_shannon_entropy(secret) > detector.entropy_limit:
                return str(detector.secret_type)
    return ""


def _is_elsewhere(value: str) -> bool:
    return bool(_ELSEWHERE.match(value)) or len(value) < 2


@cache
def _detectors() -> _Detectors:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import (
        Base64HighEntropyString,
        HexHighEntropyString,
    )
    from detect_secrets.plugins.keyword import DENYLIST, KeywordDetector

    known: Any = get_mapping_from_secret_type_to_class().values()
    by_form = tuple(
        Form.of(kind())
        for kind in known
        if issubclass(kind, RegexBasedDetector) and kind.__name__ not in _LEFT_OUT
    )
    return _Detectors(
        by_form,
        (Base64HighEntropyString(), HexHighEntropyString()),
        KeywordDetector(),
        re.compile("|".join(DENYLIST), re.IGNORECASE),
    )
