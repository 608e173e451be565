"""What a kind of fix is: parameters, their validation, a pure function; `format`, which calls a
formatter.

The caller passes in what runs the program, so that nothing here is I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.errors import Problem, ReflexError, did_you_mean
from pytest_reflex.model.rules import FORMAT

Params = Mapping[str, Any]


class FixError(ReflexError):
    """A fix cannot be applied to this text; the message says why."""


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter of a fix. `choices` limits a string; `filled` refuses an empty one."""

    type: type
    required: bool = False
    choices: tuple[str, ...] = ()
    filled: bool = False

    def fault(self, value: Any) -> str:
        """Return what is wrong with a value, to stand behind the parameter's name; else ""."""
        if not _has_type(value, self.type):
            return f"must be {_WORDS[self.type]}, not {value!r}"
        if self.choices and value not in self.choices:
            *most, last = self.choices
            words = f"{', '.join(most)} or {last}" if most else last
            return f"must be {words}, not {value!r}"
        return "is empty" if self.filled and not value.strip() else ""


Fault = tuple[str, str]
"""The parameter that is wrong, or nothing, and a message."""


def no_faults(params: Params) -> Iterable[Fault]:
    """Find nothing: for kinds whose fields say everything."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FixKind:
    """A kind of fix. `faults` says what the fields alone cannot; it sees well-typed parameters.

    A kind that runs a program is applied by `registry.apply`, with a callable that runs it.
    `apply` returns the text unchanged where there is nothing to do, raises FixError where the fix
    does not fit the text, and gives the same result when applied to its own result.
    """

    name: str
    fields: Mapping[str, Field]
    apply: Callable[[Params, str], str]
    faults: Callable[[Params], Iterable[Fault]] = no_faults

    def check(self, params: object) -> Iterable[Problem]:
        """Yield everything that is wrong with the parameters."""
        if not isinstance(params, Mapping):
            yield Problem(message=f"{self.name} needs a mapping of {', '.join(self.fields)}")
            return
        wrong = list(self._shape(params))
        yield from wrong
        if not wrong:
            for key, message in self.faults(params):
                yield Problem(message=message, path=(key,) if key else ())

    def _shape(self, params: Params) -> Iterable[Problem]:
        for key, value in params.items():
            field = self.fields.get(key)
            if field is None:
                message = f"{self.name} has no parameter {key!r}"
                hint = did_you_mean(key, self.fields)
                yield Problem(message=message, hint=hint, path=(key,), of_key=True)
            elif fault := field.fault(value):
                yield Problem(message=f"{self.name}: {key} {fault}", path=(key,))
        for key, field in self.fields.items():
            if field.required and key not in params:
                yield Problem(message=f"{self.name} needs {key}")


_WORDS: Mapping[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number above 0",
    dict: "a mapping",
    object: "any value",
}


def _has_type(value: object, wanted: type) -> bool:
    if wanted is dict:
        return isinstance(value, Mapping)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    return isinstance(value, wanted)


FILE, STDOUT = "file", "stdout"
OUTPUTS = (FILE, STDOUT)

Formatter = Callable[[Params, str], str]
"""Runs the command of a fix on a text and returns what became of it; raises FixError."""


def no_formatter(params: Params, document: str) -> str:
    """Run no program; raises FixError."""
    raise FixError(f"format: {params['command']} was not run: no program is run here")


def format_until_stable(params: Params, document: str, formatter: Formatter) -> str:
    """Return what the formatter makes of the document, which it leaves alone once it is made.

    Raises FixError where the formatter gives no text, or changes its own result.
    """
    once = formatter(params, document)
    if once != document and formatter(params, once) != once:
        raise FixError(f"format: {params['command']} changes its own result, without an end")
    return once


def faults(params: Params) -> Iterable[Fault]:
    """Find arguments that are not texts, or could be taken for options."""
    for name, value in params.get("args", {}).items():
        if not isinstance(value, str):
            yield "args", f"format: the argument {name} must be text, not {value!r}"
        elif value.startswith("-"):
            hint = "options go into argv"
            yield "args", f"format: the argument {name} must not begin with a hyphen; {hint}"


FORMAT_TEXT = FixKind(
    name=FORMAT,
    fields={
        "command": Field(str, required=True, filled=True),
        "args": Field(dict),
        "output": Field(str, choices=OUTPUTS),
    },
    apply=no_formatter,
    faults=faults,
)
