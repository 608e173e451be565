"""The parameters of a check: which there are, of what kind, and values that come from variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_reflex.errors import CriteriaError, Problem, did_you_mean, nearest_word, suggest
from pytest_reflex.model.plain import as_written, one_line
from pytest_reflex.model.rules import CheckSpec, variable_name


@dataclass(frozen=True, slots=True)
class ParameterType:
    """What a parameter may hold: `words` for people, `fits` for values.

    `from_text` turns the text of a variable (`--var K=V` gives text) into a value that fits, or
    raises ValueError. `help` and `default` say what a parameter of this kind means, and what holds
    where it is not given: the reference and the schemas for editors have both from here. `choices`
    are the words that may stand there, each with its meaning. `instead` says what to write for a
    value that does not fit, or nothing. `schema` is the same as JSON Schema, for editors; what it
    cannot say it leaves open, so that it refuses less than `fits`, never more. Where a table may
    stand there too, or nothing else, `inside` has the kinds of its keys.
    """

    words: str
    fits: Callable[[Any], bool]
    from_text: Callable[[str], Any] | None = None
    help: str = ""
    default: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    instead: Callable[[Any], str] = lambda value: ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    inside: Mapping[str, ParameterType] = field(default_factory=dict)

    def means(self, meaning: str, default: str = "") -> ParameterType:
        """Return the kind as that of one parameter, with what it means and its default.

        Both are one line of Markdown; REQUIRED is the default of what has to be there.
        """
        return replace(self, help=meaning, default=default)


REQUIRED = "required"


def one_of(choices: Mapping[str, str]) -> ParameterType:
    """Return the kind that is one of some words, each of which comes with its meaning."""
    return ParameterType(
        "one of " + ", ".join(choices),
        lambda value: isinstance(value, str) and value in choices,
        choices=choices,
        instead=nearest_of(choices),
        schema={"anyOf": [{"const": word, "description": said} for word, said in choices.items()]},
    )


def aspect_of(aspects: Mapping[str, tuple[str, object]]) -> ParameterType:
    """Return the kind of an aspect: each has what it finds, in words, and what finds it."""
    choices = one_of({name: words for name, (words, _) in aspects.items()})
    return choices.means("the aspect that is looked at", REQUIRED)


def word_of(words: Iterable[str], instead: Callable[[Any], str] | None = None) -> ParameterType:
    """Return the kind that is one of some words that explain themselves."""
    known = tuple(words)
    return ParameterType(
        "one of " + ", ".join(known),
        lambda value: isinstance(value, str) and value in known,
        instead=instead or nearest_of(known),
        schema={"enum": list(known)},
    )


def whole_number(least: int, most: int, what: str = "a whole number") -> ParameterType:
    """Return the kind that is a whole number between two bounds, both of which fit."""
    return ParameterType(
        f"{what} from {least} to {most}",
        lambda value: _is_integer(value) and least <= value <= most,
        int,
        schema={"type": "integer", "minimum": least, "maximum": most},
    )


def nearest_of(words: Iterable[str]) -> Callable[[Any], str]:
    """Return what finds the word that a value may have been meant as."""

    def instead(value: Any) -> str:
        return suggest(nearest_word(value, words)) if isinstance(value, str) else ""

    return instead


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value >= 0


def _is_texts(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(text, str) and text for text in value)
    )


def _flag_from(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


_TEXT = {"type": "string", "minLength": 1}
TEXT = ParameterType(
    "a non-empty string", lambda value: isinstance(value, str) and value != "", schema=_TEXT
)
TEXTS = ParameterType(
    "a non-empty string, or a list of them",
    _is_texts,
    schema={"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
)
FLAG = ParameterType(
    "true or false",
    lambda value: isinstance(value, bool),
    _flag_from,
    schema={"type": "boolean"},
)
FALSE = ParameterType("false", lambda value: value is False, schema={"const": False})
COUNT = ParameterType(
    "a whole number >= 0", _is_count, int, schema={"type": "integer", "minimum": 0}
)
POSITIVE = ParameterType(
    "a whole number above 0",
    lambda value: _is_integer(value) and value > 0,
    int,
    schema={"type": "integer", "minimum": 1},
)
SECONDS = ParameterType(
    "a number of seconds above 0, at most 86400",
    lambda value: _is_number(value) and 0 < value <= 86400,
    float,
    schema={"type": "number", "exclusiveMinimum": 0, "maximum": 86400},
)


def problems_of(
    spec: CheckSpec,
    kinds: Mapping[str, ParameterType],
    required: Iterable[str] | None = None,
    *,
    within: str = "",
) -> Iterator[Problem]:
    """Yield unknown, missing and unfit parameters; what comes from a variable is not looked at.

    What has to be there are those whose default is REQUIRED, unless `required` says otherwise.
    `within` is the key whose table the parameters are, for messages to name.
    """
    above = (within,) if within else ()
    for key, value in spec.params.items():
        kind = kinds.get(key)
        if kind is None:
            yield Problem(
                message=f"{one_line(str(key))!r} is not a key of a check of type {spec.type}",
                place=spec.place,
                hint=did_you_mean(key, kinds),
                path=(*above, key),
                of_key=True,
            )
        elif not kind.fits(value) and not variable_name(value):
            name = f"{within}.{key}" if within else key
            yield _unfit(spec, name, value, kind, (*above, key))
    for key in _required_keys(kinds) if required is None else required:
        if key not in spec.params:
            yield Problem(
                message=f"a check of type {spec.type} needs the key {key!r}", place=spec.place
            )


def _required_keys(kinds: Mapping[str, ParameterType]) -> Iterable[str]:
    return (key for key, kind in kinds.items() if kind.default == REQUIRED)


def settle(
    spec: CheckSpec,
    kinds: Mapping[str, ParameterType],
    variables: Mapping[str, Any],
    required: Iterable[str] | None = None,
    *,
    within: str = "",
) -> dict[str, Any]:
    """Return the parameters with the values of variables in their places.

    A node `{var: NAME}` stands for the variable's value; a text is never searched for variables.
    Raises CriteriaError with every problem found.
    """
    params: dict[str, Any] = {}
    above = (within,) if within else ()
    found = list(problems_of(spec, kinds, required, within=within))
    for key, value in spec.params.items():
        name = variable_name(value)
        if not name or key not in kinds:
            params[key] = value
            continue
        if name not in variables:
            message = f"{key} names the variable {name!r}, which is not set"
            hint = did_you_mean(name, variables) if variables else "set it under vars:"
            found.append(Problem(message=message, place=spec.place, hint=hint, path=(*above, key)))
            continue
        params[key] = _convert(variables[name], kinds[key])
        if not kinds[key].fits(params[key]):
            named = f"{key} (variable {name!r})"
            found.append(_unfit(spec, named, params[key], kinds[key], (*above, key)))
    if found:
        raise CriteriaError(found)
    return params


def _convert(value: Any, kind: ParameterType) -> Any:
    if isinstance(value, str) and kind.from_text and not kind.fits(value):
        try:
            return kind.from_text(value)
        except (ValueError, KeyError):
            return value
    return value


def _unfit(
    spec: CheckSpec, name: str, value: Any, kind: ParameterType, path: tuple[str, ...]
) -> Problem:
    given = one_line(as_written(value), 60)
    return Problem(
        message=f"{name} must be {kind.words}, not {given}",
        place=spec.place,
        hint=kind.instead(value),
        path=path,
        given=given,
        wanted=kind.schema,
    )
