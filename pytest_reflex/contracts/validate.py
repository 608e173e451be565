"""JSON at a border: the one object in an agent's text, and validation by the schemas of the
package.

Tried in this order: the whole text is JSON; the whole text is one fenced block with JSON; exactly
one object in the text keeps the contract, where text may stand around it. Duplicate keys, NaN and
infinities are not JSON here.

jsonschema is imported on first use.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.model.json_fault import json_fault

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError


_OPEN = re.compile(r"(`{3,}|~{3,})[ \t]*([^\n`]*)")
_MARKDOWN = frozenset(("markdown", "md"))


def single_fence(text: str) -> str | None:
    """Return the content where the whole text is one fenced block and nothing else, else None."""
    lines = text.strip().split("\n")
    opening = _OPEN.fullmatch(lines[0].rstrip())
    if not opening or len(lines) < 2 or not _closes(lines[-1], opening[1]):
        return None
    inside = lines[1:-1]
    if any(_closes(line, opening[1]) for line in inside):
        return None
    return _join_lines(inside)


def unwrap(text: str) -> str:
    """Return a document without the fence that an agent put around the whole of it.

    Fences inside stay. Where the text can be read in two ways (a document that begins and ends
    with a block of its own), it is left alone.
    """
    if (inside := single_fence(text)) is not None:
        return inside
    lines = text.strip().split("\n")
    opening = _OPEN.fullmatch(lines[0].rstrip())
    if not opening or len(lines) < 2 or not _closes(lines[-1], opening[1]):
        return text
    named = opening[2].strip().lower() in _MARKDOWN
    if _ends_open(lines[1:-1]) or not (named or _ends_open(lines)):
        return text
    return _join_lines(lines[1:-1])


def _ends_open(lines: list[str]) -> bool:
    """Return whether a fence is still open behind the last line."""
    mark = ""
    for line in lines:
        if mark:
            mark = "" if _closes(line, mark) else mark
        elif opening := _OPEN.fullmatch(line.strip()):
            mark = opening[1]
    return bool(mark)


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and not bare.strip(mark[0])


def _join_lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


MAX_CHARACTERS = 10_000_000

_MOST_DIGITS = 1000
_MOST_BRACKETS = 300_000  # looked at in search of a closing one; beyond it this is not an answer
_BRACKET = re.compile(r'["{}]|\\.', re.DOTALL)

Faults = Callable[[Any], Sequence[str]]


class ContractError(Exception):
    """An agent's answer is not what its step has to give; the message goes into the retry."""


def find_json(text: str, faults: Faults, *, alone: bool = False) -> Any:
    """Return the value in `text` that `faults` finds nothing wrong with.

    Raises ContractError where there is none, more than one, or nothing but another value; with
    `alone` also where anything but a fence stands around it, which may say the opposite.
    """
    if len(text) > MAX_CHARACTERS:
        raise ContractError(f"the answer is too long: {len(text):,} characters")
    whole = text.removeprefix("\ufeff").strip()
    if not whole:
        raise ContractError("the answer is empty")
    fenced = None if alone and _says_more(whole) else single_fence(whole)
    for candidate in (whole, fenced):
        if candidate is None:
            continue
        try:
            value = parse_json(candidate)
        except json.JSONDecodeError:
            continue
        if wrong := faults(value):
            raise ContractError("the JSON does not keep the contract: " + "; ".join(wrong))
        return value
    found = _only_object(whole, faults)
    if alone:
        raise ContractError("there is text around the JSON object; give the object only")
    return _sendable(found)


def _says_more(fenced: str) -> bool:
    """Return whether more than a language stands behind the opening of a fence."""
    return len(fenced.partition("\n")[0].strip("`~ \t\r").split()) > 1


def _only_object(text: str, faults: Faults) -> Any:
    kept: list[Any] = []
    wrong: list[str] = []
    for value in _objects(text, wrong):
        if found := faults(value):
            wrong += found
        else:
            kept.append(value)
    if len(kept) == 1:
        return kept[0]
    if kept:
        raise ContractError(f"the answer holds {len(kept)} JSON objects that fit; give exactly one")
    reason = f": {'; '.join(wrong[:5])}" if wrong else ""
    raise ContractError(f"the answer holds no JSON object that keeps the contract{reason}")


def _objects(text: str, wrong: list[str]) -> Iterator[Any]:
    """Yield the JSON objects in a text that are not part of another bracket."""
    at = looked = 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise ContractError("the answer is nested too deep") from None
        except ValueError as error:
            closing, brackets = _find_closing(text, at)
            looked += brackets
            if looked > _MOST_BRACKETS:
                raise ContractError("the answer holds too many braces that open nothing") from None
            if closing:
                # What stands in broken brackets may be a part of the answer: not the answer.
                line = text.count("\n", 0, at) + 1
                reason = str(error)
                if isinstance(error, json.JSONDecodeError):
                    reason, _ = json_fault(error)
                wrong.append(f"the braces at line {line} hold no JSON ({reason})")
            at = closing or at + 1
        else:
            yield value


def _find_closing(text: str, at: int) -> tuple[int, int]:
    """Return the offset behind the brace that closes the one at `at` (0: none), and the work."""
    depth = looked = 0
    quoted = False
    for match in _BRACKET.finditer(text, at):
        looked += 1
        mark = match[0]
        if mark == '"':
            quoted = not quoted
        elif mark in "{}" and not quoted:
            depth += 1 if mark == "{" else -1
            if depth == 0:
                return match.end(), looked
    return 0, looked


def parse_json(text: str) -> Any:
    """Return the one JSON value that a text is.

    Raises JSONDecodeError where it is not JSON, ContractError where it is none to rely on: keys
    that are there twice, NaN, too deep, half of a surrogate pair.
    """
    try:
        return _sendable(_DECODER.decode(text))
    except RecursionError:
        raise ContractError("the JSON is nested too deep") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise ContractError(f"the JSON cannot be used: {error}") from None


def _sendable(value: Any) -> Any:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ContractError("the JSON holds half of a surrogate pair, which is not text") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits, {_MOST_DIGITS:,} at most")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_whole)


_FOLDER = Path(__file__).parent / "schemas"
_ENDING = ".schema.json"


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(path.name.removesuffix(_ENDING) for path in _FOLDER.glob(f"*{_ENDING}"))


def schema(name: str) -> dict[str, Any]:
    """Return a schema as a new object; raises UsageError for a name that there is not."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


@lru_cache
def schema_text(name: str) -> str:
    """Return a schema as it is shipped; raises UsageError for a name that there is not."""
    if name not in names():
        raise UsageError(f"there is no schema {name!r}", hint=did_you_mean(name, names()))
    return (_FOLDER / f"{name}{_ENDING}").read_text(encoding="utf-8")


def plain_schema(name: str) -> dict[str, Any]:
    """Return a schema in the few words that every client's own option takes.

    Names of types and keys are all there, without limits of length and number: what comes is held
    against the whole schema.
    """
    whole = schema(name)
    return _plain(whole, whole.get("$defs", {}))


def _plain(node: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return _plain(named[node["$ref"].rpartition("/")[2]], named)
    found: dict[str, Any] = {"type": node.get("type", "string")}
    found |= {key: node[key] for key in _PLAIN if key in node}
    if "items" in node:
        found["items"] = _plain(node["items"], named)
    if "properties" in node:
        parts = node["properties"].items()
        found["properties"] = {key: _plain(part, named) for key, part in parts}
        found["additionalProperties"] = False
    return found


_PLAIN = ("enum", "description", "required")
MOST_PROBLEMS = 10
_LONGEST_MESSAGE = 300


def problems(name: str, value: Any) -> list[str]:
    """Return what is wrong with a value under the schema of that name, at most `MOST_PROBLEMS`.

    Each line starts with the JSON Pointer of the place; a problem of the whole has none.
    """
    found = []
    errors = sorted(
        _validator(name).iter_errors(value), key=lambda error: list(map(str, error.path))
    )
    for error in errors[:MOST_PROBLEMS]:
        message = _message(error)
        place = pointer(error.absolute_path)
        found.append(f"{place}: {message}" if place else message)
    return found


def _message(error: ValidationError) -> str:
    kind, wanted, value = error.validator, error.validator_value, cast(Any, error.instance)
    if kind in ("minItems", "maxItems"):
        bound = "at least" if kind == "minItems" else "at most"
        return f"has {len(value)} items, {bound} {wanted} are needed"
    if kind == "pattern" and wanted == "\\S":
        return "is empty"
    message = error.message
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:120]} ... {message[-120:]}"
    return message


def pointer(path: Sequence[str | int]) -> str:
    """Return a JSON Pointer (RFC 6901); empty for the whole document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@lru_cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    every = [Resource.from_contents(schema(each)) for each in names()]
    registry: Registry[Any] = Registry().with_resources(
        (str(resource.id()), resource) for resource in every
    )
    return Draft202012Validator(schema(name), registry=registry)
