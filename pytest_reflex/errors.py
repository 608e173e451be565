"""The exception tree, the exit codes, and the places that messages point to.

Tree::

    ReflexError              the user's error: one line, no traceback, `exit_code`
    ├── UsageError           a flag, a setting or a path is wrong             (4)
    ├── ProblemsError        several things are wrong; holds `problems`       (4)
    │   ├── CriteriaError    rules that cannot be used
    │   ├── ProcedureError   a procedure whose prompt cannot be made
    │   ├── FlowError        a flow that cannot be run
    │   └── SpecError        a spec that is too unclear to begin with         (13)
    ├── ArtifactError        the thing to judge cannot be read                (4)
    ├── StepError            an agent gave nothing usable, and not again      (9)
    ├── LimitError           a tool is refused by a rate limit; resume later  (9)
    │   └── DeniedError      a tool was not allowed to do its work            (9)
    ├── LockedError          another process drives this run                  (11)
    ├── PausedError          a person has to look before a run goes on        (14)
    └── StateError           a state file could not be read or written        (12)
        ├── UnreadableError  the system could not read a file at this moment  (12)
        └── TamperedError    another program wrote into a history in use      (10)

Anything else that escapes is ours and shows a traceback.

A failed read that may pass (an input/output error, too many open files, no memory) says
nothing of the file: what meets one reads once more, and then ends with 12, whatever the file is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
E = TypeVar("E", bound="ReflexError")

_TRANSIENT = frozenset(
    (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.ETIMEDOUT)
)


class ExitCode(IntEnum):
    """Exit statuses of the command line (SPEC section 9); pytest sessions use pytest's own."""

    OK = 0
    GATE_FAILED = 1
    USER_STOP = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING_MEASURED = 5
    ITERATION_LIMIT = 6
    STAGNATION = 7
    BUDGET_EXCEEDED = 8
    PHASE_ERROR = 9
    TAMPERED = 10
    LOCKED = 11
    NOT_PERSISTED = 12
    SPEC_REFUSED = 13
    WAITING = 14
    CIRCUIT_BREAKER = 15
    ABORTED = 16
    INTERRUPTED = 130


class Place(NamedTuple):
    """A position in a text file; line and column are 1-based and count code points.

    A tuple, because reading 10,000 rules makes twice as many: that is four times faster.
    """

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return (
            f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"
        )

    def to_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, wire: Mapping[str, Any] | None) -> Place | None:
        return cls(wire["path"], wire["line"], wire["column"]) if wire else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong: what, where, and what to do next.

    Where the parameters of a check or a fix were looked at, `path` has the keys that lead to the
    value; `of_key` is True where the last key itself is wrong, and not its value. `given` is the
    value as the message shows it at its end, and `wanted` the JSON Schema that it does not keep.
    `refused` where an artifact is too large to be judged, and nothing else is wrong.
    """

    message: str
    place: Place | None = None
    hint: str = ""
    rule_id: str = ""
    path: tuple[str, ...] = ()
    of_key: bool = False
    given: str = ""
    wanted: Mapping[str, Any] = field(default_factory=dict, compare=False)
    refused: bool = False

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        rule = f"rule {self.rule_id}: " if self.rule_id else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{rule}{self.message}{hint}"


class ReflexError(Exception):
    """An error of the user's that one line explains.

    With `about`, a path or a name, the message begins with it; `why` is the message without it, for
    callers that name the thing in another way.
    """

    exit_code: ExitCode = ExitCode.USAGE
    why: str = ""

    def __init__(
        self, message: str, *, place: Place | None = None, hint: str = "", about: object = ""
    ) -> None:
        self.why = message
        message = f"{about} {message}" if about != "" else message
        self.problems: tuple[Problem, ...] = (Problem(message=message, place=place, hint=hint),)
        super().__init__(str(self.problems[0]))


class UsageError(ReflexError):
    """A flag, a setting or a path is wrong."""


class ArtifactError(ReflexError):
    """The artifact is missing, unreadable, too large, or not text where text is needed.

    `reading` is the format it should have been read as, such as "YAML": all checks that read it so
    have the same problem. It is empty where the problem is that of one check alone. `file` is the
    name of the file of a folder that it is about, where that is known.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        about: object = "",
        reading: str = "",
        file: str = "",
    ) -> None:
        self.reading, self.file = reading, file
        super().__init__(message, hint=hint, about=about)


class TooLargeError(ArtifactError):
    """The artifact is larger than what is read: nothing of it is judged."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = (Problem(message=message, hint=hint, refused=True),)


class StepError(ReflexError):
    """A step by itself failed: its agent gave nothing usable, and nothing the second time."""

    exit_code = ExitCode.PHASE_ERROR


class LimitError(ReflexError):
    """A tool stayed refused by a rate limit; the run goes on where it is, when it is resumed."""

    exit_code = ExitCode.PHASE_ERROR


class DeniedError(LimitError):
    """A tool was not allowed to do its work: it is not paid again before that is changed."""


class PausedError(ReflexError):
    """A run waits for a person, and goes on when it is resumed."""

    exit_code = ExitCode.WAITING


class LockedError(ReflexError):
    """Another process holds the run."""

    exit_code = ExitCode.LOCKED


class StateError(ReflexError):
    """A state file is damaged or could not be written."""

    exit_code = ExitCode.NOT_PERSISTED


class UnreadableError(StateError):
    """The system could not read a file now, and not when it was asked again; it may next time."""

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(f"could not be read: {error.strerror}", hint=TRY_AGAIN, about=path)


class TamperedError(StateError):
    """A history was changed while a run was writing it."""

    exit_code = ExitCode.TAMPERED


class ProblemsError(ReflexError):
    """Several things are wrong at once; every problem found is in `problems`."""

    def __init__(
        self, problems: Iterable[Problem] | str, *, place: Place | None = None, hint: str = ""
    ) -> None:
        if isinstance(problems, str):
            problems = (Problem(message=problems, place=place, hint=hint),)
        found = tuple(problems)
        Exception.__init__(self, "\n".join(str(problem) for problem in found))
        self.problems = found
        self.why = found[0].message if found else ""


class CriteriaError(ProblemsError):
    """Criteria that cannot be used."""


class ProcedureError(ProblemsError):
    """A procedure whose prompt cannot be made: fragments that are not there, or no text."""


class FlowError(ProblemsError):
    """A flow.yaml, or an agent file of it, that cannot be used."""


class SpecError(ProblemsError):
    """A spec that is too unclear for work to begin."""

    exit_code = ExitCode.SPEC_REFUSED


TRY_AGAIN = "it was tried twice; nothing is lost: try again when the cause is gone"


def is_transient(error: BaseException) -> bool:
    """Return whether an error does not concern the file: the same call may succeed next time."""
    return isinstance(error, OSError) and error.errno in _TRANSIENT


def read_twice(read: Callable[[], T]) -> T:
    """Return what `read` does, called once more where it meets a transient error."""
    try:
        return read()
    except OSError as error:
        if not is_transient(error):
            raise
    return read()


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a regular file is there; raises OSError where that cannot be seen.

    `Path.is_file` says no then, from Python 3.14 on.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise


def read_or_raise(path: object, read: Callable[[], T]) -> T:
    """Return what `read` does, as `read_twice`; raises UnreadableError where that is no use."""
    try:
        return read()
    except OSError as error:
        return read_again(path, error, read)


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether anything is there, a broken link too.

    Raises UnreadableError where that cannot be seen for a cause that may pass: `os.path.lexists`
    says no then.
    """
    try:
        read_or_raise(path, lambda: os.lstat(path))
    except OSError:
        return False
    return True


def read_again(path: object, error: OSError, read: Callable[[], T]) -> T:
    """Return what `read` does after it has met `error`; raises that where it will not pass.

    Raises UnreadableError where it met one that may pass twice.
    """
    if not is_transient(error):
        raise error
    try:
        return read()
    except OSError as still:
        if is_transient(still):
            raise UnreadableError(path, still) from None
        raise


def for_cause(found: E, cause: BaseException) -> E:
    """Return an error, with the status of an unreadable file where its cause is transient."""
    if is_transient(cause):
        found.exit_code = ExitCode.NOT_PERSISTED
    return found


def nearest_word(word: object, known: Iterable[str]) -> str:
    """Return the known word that is nearest to one that is not known; nothing if none is near."""
    from difflib import get_close_matches

    words = tuple(known)
    # The same letters in another order are a typo.
    letters = sorted(str(word))
    typos = [one for one in words if sorted(one) == letters]
    return next(iter(typos or get_close_matches(str(word), words, n=1)), "")


def suggest(word: str) -> str:
    """Return the hint that a word may have been meant; nothing for no word."""
    return f"did you mean {word}?" if word else ""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint for a word that is not known: the nearest known one, else all of them."""
    words = tuple(known)
    return suggest(nearest_word(word, words)) or "known: " + ", ".join(words)
