"""What a configuration file has to have: required keys, defined names, validity by its published
schema.

Where such a thing is missing, no other aspect has anything to look at: what was wrong in it must
not count as fixed.

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

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report, missing_extra
from pytest_reflex.checks.structure.configuration.file import (
    ConfigExpectations,
    ConfigFile,
    ConfigValue,
    Meaning,
    texts,
)
from pytest_reflex.checks.structure.data.source import finding_at
from pytest_reflex.text import paths
from pytest_reflex.text.data import Data

_PARTS = {Meaning.COMPOSE: "services", Meaning.WORKFLOW: "jobs"}


def find_missing_part(config: ConfigFile) -> str:
    """Return the path of the first thing that is missing; empty where all of it is there."""
    part = _PARTS.get(config.meaning, "")
    entries: Any = config.top.get(part)
    if not part or (
        not entries and config.meaning is Meaning.COMPOSE and config.top.get("include")
    ):
        return ""
    if not entries or not isinstance(entries, dict):
        return part
    return next((f"{part}.{k}" for k, entry in entries.items() if not isinstance(entry, dict)), "")


_NAMED_VOLUME = re.compile(r"([A-Za-z0-9][\w.-]+):")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STEP_OR_NEED = re.compile(r"\b(steps|needs)\.([A-Za-z_][\w-]*)")
_REFERENCE_PARTS = ("networks", "volumes", "secrets", "configs")


def find_undefined(config: ConfigFile) -> Iterator[Finding]:
    """Find names that lead nowhere in the file."""
    if config.meaning is Meaning.COMPOSE:
        yield from _of_compose(config)
    elif config.meaning is Meaning.WORKFLOW:
        yield from _of_workflow(config)


def _of_compose(config: ConfigFile) -> Iterator[Finding]:
    top = config.top
    if "include" in top:
        return  # what it names may stand in the other files
    services = _keys(top.get("services"))
    defined = {part: _keys(top.get(part)) for part in _REFERENCE_PARTS}
    defined["networks"].add("default")
    for document, name, service in config.tables("services"):
        for other in _names(service.get("depends_on")):
            if other not in services:
                yield _undefined_finding(
                    document, ("services", name, "depends_on"), "service", other
                )
        for part in _REFERENCE_PARTS:
            for other in _names_in(part, service.get(part)):
                if other not in defined[part] and "$" not in other:
                    yield _undefined_finding(document, ("services", name, part), part[:-1], other)


def _names_in(part: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        return
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            source = item.get("source")
            if isinstance(source, str) and (part != "volumes" or item.get("type") == "volume"):
                yield source
        elif isinstance(item, str) and part != "volumes":
            yield item
        elif isinstance(item, str) and (named := _NAMED_VOLUME.match(item)):
            yield named[1]


def _of_workflow(config: ConfigFile) -> Iterator[Finding]:
    jobs = _keys(config.top.get("jobs"))
    for document, name, job in config.tables("jobs"):
        needs = set(_names(job.get("needs")))
        for other in sorted(needs - jobs):
            yield _undefined_finding(document, ("jobs", name, "needs"), "job", other)
        steps = job.get("steps")
        entries = steps if isinstance(steps, list) else []
        ids = {str(step.get("id")) for step in entries if isinstance(step, dict)}
        known = {"steps": ids, "needs": needs}
        for path, text in _strings(job, ("jobs", name)):
            for expression in _EXPRESSION.findall(text):
                for kind, other in _STEP_OR_NEED.findall(expression):
                    if other not in known[kind]:
                        yield _undefined_finding(document, path, f"entry of {kind}", other)


def _strings(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, (*path, index))


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value if isinstance(value, list | dict) else ()
    return [item for item in items if isinstance(item, str)]


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _undefined_finding(document: Data, path: tuple[Any, ...], kind: str, name: str) -> Finding:
    where = ".".join(map(str, path))
    return finding_at(document, f"{where} names the {kind} {name!r}, which is not defined", path)


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
    if lack := missing_extra("check_jsonschema"):
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
                message, path = f"{where}: unknown key {named!r}", (*path, named)
            else:
                message = f"{where}: {_error_text(nearest)}"
            yield finding_at(document, f"{message} (read as a {config.label})", path)


def _is_excused(error: Any, config: ConfigFile) -> bool:
    """Return whether a tool takes what its published schema does not.

    Of a choice that nothing fits it is enough that one of its branches has no other problem.
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
    """Return, of a choice that nothing fits, the problem that lies deepest: it says most."""
    while error.context:
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    return error


def _strange(error: Any) -> str:
    """Return the first key that the schema does not know, where that is the problem."""
    if error.validator not in ("additionalProperties", "unevaluatedProperties"):
        return ""
    keys = error.instance if isinstance(error.instance, dict) else ()
    return next((key for key in keys if repr(key) in error.message), "")


def _error_text(error: Any) -> str:
    shown = repr(error.instance)
    message = str(error.message)
    return message.replace(shown, "it") if len(shown) > 60 else message


_PLACEHOLDER = re.compile(
    r"""(?i:change[-_]?(?:me|it|this)|replace[-_]?(?:me|this)|fill[-_]?(?:me|this)(?:[-_]in)?)
    |(?:CHANGE|REPLACE|FILL)\ (?:ME|IT|THIS|IN)
    |(?i:your[-_][\w.-]+)|(?:[Yy]our|YOUR)\ .*\ (?i:here)|(?i:(?:insert|put|enter)[-_ ].*[-_ ]here)
    |(?i:(?:[\w.+-]+@|[a-z][\w+.-]*://)your[-_][\w.-]+(?:[/:].*)?)|\[[Yy]our\ [^]]*\]
    |(?i:<[a-z][\w\ .,:'/-]*>)|(?i:x{3,})
    |(?:TODO|FIXME|TBD)(?:[:!.].*|\ (?:-\ )?(?i:add|change|choose|configure|decide|define|enter
    |fill|find|fix|get|give|insert|later|need|put|replace|say|set|specify|this|update|use|write)\b.*)?
    |(?:todo|fixme|tbd):\ ?(?:complete|describe|document|explain|fill|write)\b.*""",
    re.VERBOSE,
)
_MARKUP = re.compile(
    r"</?(?:a|abbr|article|b|body|br|button|code|div|em|footer|form|h[1-6]|head|header|hr|html|i|iframe"
    r"|img|input|li|link|main|meta|nav|ol|p|pre|script|section|small|span|strong|style|svg|table|td|th"
    r"|tr|ul|video)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"<(?:all(?:_urls)?|any|auto|default|empty|nil|none|null|root|stdin|stdout|stderr|unknown|unset"
    r"|(?:[acdmsw]-)+[^<>]+|alt(?:-[^<>]+)?|backspace|bs|cr|ctrl(?:-[^<>]+)?|delete|down|end|enter|esc"
    r"|escape|f\d\d?|home|insert|leader|left|pgdown|pgup|return|right|shift(?:-[^<>]+)?|space|tab|up)>",
    re.IGNORECASE,
)
"""Values in angle brackets that tools take as they are: for nothing and all, and keys to press."""
_WORDS = frozenset({"TODO", "FIXME", "TBD", "XXX"})
_LABELS = re.compile(r"(?:tags?|labels?|keywords?|notes?|markers?|terms?|words?)$", re.IGNORECASE)
_PATTERNS = re.compile(
    r"(?:patterns?|regex(?:es|ps?)?|branches|exclude\w*|exclude_also|ignore\w*|match\w*|grep|filters?|"
    r"search|allow\w*|deny\w*|forbid\w*|contains)$",
    re.IGNORECASE,
)
"""Names of settings that hold such words themselves, or what is looked for in other texts."""

_SOUGHT = re.compile(r"(?:pattern|regexp?|search|replace|match|grep|marker)s?$", re.IGNORECASE)
_FORMS = "ISSUE_TEMPLATE"
"""The folder of forms, whose placeholders are meant to be filled in later."""


def check_required(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find what the schema of its kind misses, names without a definition, and open places."""
    by_schema = valid(config)
    findings = [*_headless(config), *by_schema.findings, *_absent(config, expected)]
    findings += find_undefined(config)
    in_a_form = config.folder is not None and config.folder.name.upper() == _FORMS
    if not (config.is_example or config.is_locale or in_a_form):
        findings += _find_unfilled(config)
    unmeasured = "" if findings else by_schema.unmeasured
    summary = f"what a {config.label} needs is there"
    return Report(findings, summary, unmeasured, needs=by_schema.needs if unmeasured else "")


def _headless(config: ConfigFile) -> Iterator[Finding]:
    """Yield that a Compose file has nothing to run, which its schema does not ask for."""
    if config.meaning is Meaning.COMPOSE and find_missing_part(config) == "services":
        yield Finding("services is missing: a Compose file needs services or include", 1)


def _absent(config: ConfigFile, expected: ConfigExpectations) -> Iterator[Finding]:
    for text, steps in expected.paths:
        if not any(next(iter(paths.find(d.value, steps)), None) for d in config.documents):
            is_one = not any(isinstance(step, paths.Wildcard) for step in steps)
            yield finding_at(config.documents[0], f"{text} is not there", steps, given=is_one)


def _find_unfilled(config: ConfigFile) -> Iterator[Finding]:
    for setting, value in texts(config):
        if _is_open(setting, value.strip()):
            yield setting.finding(f"{setting.name} is still a placeholder: {value!r}")


def _is_open(setting: ConfigValue, value: str) -> bool:
    if not _PLACEHOLDER.fullmatch(value) or _MARKUP.match(value) or _MEANT.fullmatch(value):
        return False
    begins_so = value.partition(":")[0].upper() in _WORDS
    if value.startswith("<") and _SOUGHT.search(setting.name):
        return False
    return not (begins_so and (_LABELS.search(setting.name) or _PATTERNS.search(setting.name)))
