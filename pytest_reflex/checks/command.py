"""The command line of an executable check: an argv, or a text for a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_reflex.checks.blocks_folder import BlocksFolder
from pytest_reflex.checks.options import REQUIRED, SECONDS, TEXT, TEXTS, ParameterType, settle
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import clip, escape_control, one_line
from pytest_reflex.model.results import LEFT_CHILDREN
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckCommand, CheckContext, Decides
from pytest_reflex.process.child import KEPT
from pytest_reflex.process.environment import copy_environment, own_secrets, redact, redact_ends
from pytest_reflex.process.run import Finished, run

NOT_EXECUTABLE, NOT_FOUND = 126, 127
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]*")
# What a shell does itself, or reads as its own word.
_SHELL_WORDS = """
alias bg bind break builtin case cd command continue declare dirs disown do done echo elif else
enable esac eval exec exit export false fc fg fi for function getopts hash help history if jobs kill
let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt
source suspend test then time times trap true type typeset ulimit umask unalias unset until wait
while
"""
_OF_SHELL = frozenset(_SHELL_WORDS.split())
# Ends with the first command that fails, the unset variable, the failure within a pipeline.
_STRICT = {"bash-strict": "bash -euo pipefail"}


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: `argv` as it goes to the system; `text` is how the rule wrote it.

    `is_text` where a shell runs it, which reports the death of its commands as 128 + signal.
    """

    argv: tuple[str, ...]
    text: str
    is_text: bool = False

    def problem(self, returncode: int | None) -> str:
        """Return why an exit status is not a verdict of the command, empty where it is one."""
        if returncode is None:
            return "its exit status was lost: another part of this process reaped it"
        if returncode < 0:
            return f"it was ended by {signal_name(-returncode)}"
        if returncode == NOT_FOUND:
            return "exit status 127: a command was not found"
        if returncode == NOT_EXECUTABLE:
            return "exit status 126: a command could not be executed"
        if self.is_text and returncode - 128 in signal.valid_signals():
            return (
                f"exit status {returncode}: a command was ended by {signal_name(returncode - 128)}"
            )
        return ""


def command_of(value: str | Sequence[str], shell: str, environment: Mapping[str, str]) -> Command:
    """Return the command for a text (run as `SHELL -c TEXT`) or a list (run as it is).

    `shell` may have options ("bash -o pipefail"), or be "bash-strict"; without it, bash is taken
    where it is on the PATH, else sh. Nothing is ever put into the text: braces, dollars and percent
    signs reach the shell byte for byte.
    """
    path = environment.get("PATH")
    if not isinstance(value, str):
        argv = tuple(value)
        return Command(argv, one_line(" ".join(argv)))
    if not shell:
        shell = "bash" if shutil.which("bash", path=path) else "sh"
    argv = (*shlex.split(_STRICT.get(shell, shell)), "-c", value)
    return Command(argv, one_line(value), is_text=True)


class CommandCheck:
    """A kind of check that runs a command; all of its checks see the environment of one moment."""

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """What commands inherit."""
        return copy_environment()

    def command(self, params: Mapping[str, Any]) -> Command:
        """Return the command of a check with these settled parameters."""
        return command_of(params["command"], params.get("shell", ""), self.environment)


def find_argv(command: Mapping[str, Any], args: Mapping[str, Any]) -> list[str] | None:
    """Return the argv of a declared command; None where the arguments are not the declared ones.

    Only a whole item such as ``{file}`` is replaced, and never through a shell.
    """
    names = command.get("args", [])
    if set(args) != set(names) or not all(isinstance(value, str) for value in args.values()):
        return None
    if any(value.startswith("-") for value in args.values()):
        return None
    places = {"{" + name + "}": args[name] for name in names}
    return [places.get(item, item) for item in command["argv"]]


def missing_program(value: str | Sequence[str], path: str | None = None) -> str:
    """Return the program that a command begins with where it is not installed, else nothing.

    Of a text for a shell that is its first word, where that is plainly a program; one given by its
    path may be made before it is run.
    """
    if isinstance(value, str):
        word = value.split(None, 1)[0] if value.strip() else ""
        program = word if _PROGRAM.fullmatch(word) and word not in _OF_SHELL else ""
    else:
        program = value[0] if value else ""
    if not program.strip() or os.sep in program or "\0" in program:
        return ""
    return "" if shutil.which(program, path=path) else program


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


TIMEOUT = 60.0

ARTIFACT_VARIABLE = "PYTEST_REFLEX_ARTIFACT"
BLOCKS_VARIABLE = "PYTEST_REFLEX_BLOCKS"


def is_command(value: Any) -> bool:
    """Return whether a value is a text for a shell, or a list of program and arguments."""
    if isinstance(value, str):
        return bool(value.strip()) and "\0" not in value
    if not isinstance(value, Sequence) or not value:
        return False
    return all(isinstance(part, str) and "\0" not in part for part in value) and bool(value[0])


def _is_shell(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(shlex.split(value)) and "\0" not in value
    except ValueError:
        return False


COMMAND_KINDS = {
    "command": ParameterType(
        "a command for the shell, or a list of program and arguments",
        is_command,
        schema={
            "anyOf": [
                TEXT.schema,
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        },
    ).means("what is run; no shell sees a list", REQUIRED),
    "shell": ParameterType(
        "a program with its options, quoted as in a shell", _is_shell, schema=TEXT.schema
    ).means("the shell for a text; `bash-strict` is `bash -euo pipefail`", "`bash`, else `sh`"),
    "writes": TEXTS.means(
        "globs of the files in the project that it writes: in a loop it may change no others"
    ),
    "timeout": SECONDS.means(
        "after it the command and all it started are killed: an `error`", f"{TIMEOUT:g}"
    ),
}


def shell_problems(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `shell` beside the command that it is for."""
    if "shell" in params and not isinstance(params.get("command", ""), str):
        yield Problem(
            message="shell goes with a command that is a text, not a list",
            place=spec.place,
            hint="a list is run without a shell",
            path=("shell",),
        )


def settle_command(
    spec: CheckSpec,
    kinds: Mapping[str, ParameterType],
    variables: Mapping[str, Any],
    *contradictions: Callable[[CheckSpec, Mapping[str, Any]], Iterator[Problem]],
) -> dict[str, Any]:
    """Return the parameters that count, with a timeout; raises CriteriaError.

    `contradictions` yield what is wrong with parameters beside each other, of the shell apart.
    """
    params = settle(spec, kinds, variables)
    if found := [p for look in (shell_problems, *contradictions) for p in look(spec, params)]:
        raise CriteriaError(found)
    return {"timeout": TIMEOUT, **params}


def check_command(
    command: Command, params: Mapping[str, Any], decides: Decides, tries: int = 1
) -> CheckCommand:
    """Return what `run_command` starts for the settled parameters of a check."""
    written = params["command"]
    return CheckCommand(
        argv=command.argv,
        written=written if isinstance(written, str) else tuple(written),
        shell=params.get("shell", ""),
        decides=decides,
        timeout=float(params.get("timeout", TIMEOUT)),
        tries=tries,
        environment=(ARTIFACT_VARIABLE, BLOCKS_VARIABLE),
    )


def preview_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return settled parameters as a preview has them, without those of the command."""
    from pytest_reflex.checks.preview import OF_COMMAND, without

    return {"options": without(params, OF_COMMAND)}


def output_globs(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return globs of the files that settled parameters say are written."""
    globs, report = params.get("writes", ()), params.get("report")
    return (*((globs,) if isinstance(globs, str) else globs), *((report,) if report else ()))


def describe(params: Mapping[str, Any]) -> str:
    """Return the command of a check for people, on one line."""
    command = params.get("command")
    return command if isinstance(command, str) else shlex.join(map(str, command or ()))


def run_command(
    command: Command,
    environment: Mapping[str, str],
    timeout: float,
    artifact: Artifact,
    context: CheckContext,
    keep: int = KEPT,
) -> Finished:
    """Run a command on an artifact; `keep` bytes of the beginning of its output are kept.

    Raises SpawnError where it cannot be started.
    """
    files = [file.path for file in artifact.files or (artifact,)]
    if programs := [path for path in files if path.suffix == ".py"]:
        from pytest_reflex.process.bytecode import remove_stale

        remove_stale(programs)
    blocks = context.blocks or BlocksFolder(artifact)
    own = {ARTIFACT_VARIABLE: os.fspath(artifact.path), BLOCKS_VARIABLE: str(blocks())}
    return run(
        command.argv,
        cwd=context.root,
        env={**environment, **context.environment, **own},
        timeout=timeout,
        head=keep,
        cancel=context.cancel,
    )


def stop_message(finished: Finished, command: Command, timeout: float) -> str:
    """Return why a command did not come to its end; empty where it did."""
    if finished.timed_out:
        return f"it ran longer than {timeout:g} s and was stopped ({command.text})"
    if finished.cancelled:
        return "it was stopped because the session ended"
    return "it wrote too much and was stopped" if finished.overflow else ""


LEFT_TEXT = f"{LEFT_CHILDREN}: processes that it started were still running, and were killed"


def remarks(finished: Finished) -> Iterator[str]:
    """Yield further notes about a command that ran."""
    if finished.left_children:
        yield LEFT_TEXT
    if finished.truncated:
        total = finished.stdout_total + finished.stderr_total
        yield f"output truncated: {total} bytes, beginning and end were kept"


LINES = 20
LINE_WIDTH = 300
SAID = 120

# Evidence comes from the end: no more of a long output than this is looked at.
_TAIL = 32 * 1024


def text_of(data: bytes) -> str:
    """Return bytes as UTF-8 with line ends as `\\n`; what is not UTF-8 reads as `\\xff`."""
    return data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def last_lines(finished: Finished) -> str:
    """Return the last lines of both streams, visible and never cut inside a character."""
    out, err = _lines(finished.stdout), _lines(finished.stderr)
    if not out or not err:
        return "\n".join((out or err)[-LINES:])
    half = LINES // 2
    kept = max(half, LINES - len(err))
    return "\n".join(["stdout:", *out[-kept:], "stderr:", *err[-max(half, LINES - len(out)) :]])


def last_said(finished: Finished) -> str:
    """Return the last line on stderr with something in it, short enough for a message.

    Secrets are hidden before it is cut: a part of one could not be distinguished from other text.
    """
    lines = reversed(text_of(finished.stderr[-_TAIL:]).split("\n"))
    line = next(filter(None, map(str.strip, lines)), "")
    hidden = own_secrets()
    return one_line(escape_control(redact_ends(redact(line, hidden), hidden)), SAID)


def _lines(data: bytes) -> list[str]:
    tail = data[-_TAIL:]
    if len(tail) < len(data):
        tail = tail[_character_start(tail) :]
    text = escape_control(redact(text_of(tail), own_secrets())).rstrip("\n")
    return [clip(line, LINE_WIDTH) for line in text.split("\n")] if text.strip() else []


def _character_start(data: bytes) -> int:
    return next((i for i in range(min(4, len(data))) if data[i] & 0xC0 != 0x80), 0)
