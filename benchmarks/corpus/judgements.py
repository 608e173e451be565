"""What readers said to each finding: a line of JSON for each, so that changes are lines.

Two people read a finding with its document, each for himself; it is true where both say so. A
finding that nobody has read has a line without readings: so the file shows what a change of a rule
gained and lost, whether it was read or not.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.corpus.judge import Finding, Key
from benchmarks.corpus.packages import CorpusError

FILE = Path(__file__).parent / "judgements.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The readings of one finding; `stays` says why a rule keeps one that is false."""

    key: Key
    severity: str
    readings: tuple[bool, ...] = ()
    reason: str = ""
    stays: str = ""

    @property
    def verdict(self) -> bool | None:
        """Whether the finding is true; None where it was not read twice. In doubt it is false."""
        return all(self.readings) if len(self.readings) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """What is found now and has no judgement, and judgements of what is found no longer."""

    new: tuple[Finding, ...]
    gone: tuple[Judgement, ...]


def read_judgements(text: str) -> dict[Key, Judgement]:
    """Return the judgements of a file; raises CorpusError with the line that cannot be read."""
    judgements: dict[Key, Judgement] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            entry = json.loads(line)
            key = Key(**{name: entry.pop(name) for name in Key._fields})
            readings = tuple(entry.pop("readings", ()))
            judgement = Judgement(key=key, readings=readings, **entry)
        except (ValueError, KeyError, TypeError) as error:
            raise CorpusError(f"line {number} is not a judgement: {error!r}") from error
        if key in judgements:
            raise CorpusError(f"line {number}: the same finding is judged twice")
        judgements[key] = judgement
    return judgements


def write_judgements(judgements: Iterable[Judgement]) -> str:
    """Return the text of the file, in an order of its own; what is empty is left out."""
    lines = []
    for one in sorted(judgements, key=lambda judgement: judgement.key):
        entry = one.key._asdict() | {"severity": one.severity}
        if one.readings:
            entry["readings"] = list(one.readings)
        entry |= {name: value for name in ("reason", "stays") if (value := getattr(one, name))}
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    return "".join(lines)


def compare(findings: Iterable[Finding], judgements: Mapping[Key, Judgement]) -> Difference:
    """Return what a change of rules gained and lost."""
    found = {finding.key: finding for finding in findings}
    return Difference(
        tuple(finding for key, finding in found.items() if key not in judgements),
        tuple(judgement for key, judgement in judgements.items() if key not in found),
    )


def accepted(
    findings: Iterable[Finding], judgements: Mapping[Key, Judgement]
) -> dict[Key, Judgement]:
    """Return the judgements of what is found now, with a line for each that is new."""
    return {
        finding.key: replace(
            judgements.get(finding.key) or Judgement(key=finding.key, severity=finding.severity),
            severity=finding.severity,
        )
        for finding in findings
    }


def with_readings(
    judgements: Mapping[Key, Judgement], first: Mapping[str, str], second: Mapping[str, str]
) -> dict[Key, Judgement]:
    """Return the judgements with what two readers answered, each by the finding's short name.

    An answer is "true" or "false" and a reason behind a blank. The reason that is kept is the one
    that counts: of a reader who says false, else of the first.
    """
    result = dict(judgements)
    for key, judgement in judgements.items():
        if key.id in first and key.id in second:
            answers = [first[key.id].partition(" "), second[key.id].partition(" ")]
            readings = tuple(word == "true" for word, _, _ in answers)
            reason = answers[0 if all(readings) else readings.index(False)][2]
            result[key] = replace(judgement, readings=readings, reason=reason)
    return result


def read_answers(folder: Path, reader: int) -> dict[str, str]:
    """Return what one reader wrote beside the sheets of a folder, by the finding's short name."""
    answers = {}
    for path in sorted(folder.glob(f"*.reader{reader}.toml")):
        for entry in tomllib.loads(path.read_text("utf-8")).get("finding", ()):
            verdict = str(entry["verdict"]).lower()
            if verdict not in ("true", "false"):
                raise CorpusError(f"{path}: {entry['id']} is neither true nor false")
            answers[str(entry["id"])] = f"{verdict} {' '.join(str(entry['reason']).split())}"
    return answers
