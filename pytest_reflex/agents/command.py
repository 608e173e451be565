"""An AI tool as an agent: its command, the prompt in, the answer out, and what it had written when
it was cut off.

Promises: no shell; the prompt arrives byte for byte; an error is a Reply with `error`, never an
exception; values of secret variables are kept nowhere. Limits: the tool may do what its own
settings allow; what it writes beyond `MAX_ANSWER` is not taken.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_reflex.agents.answers import STDOUT, OutputSource
from pytest_reflex.agents.environment import (
    child_environment,
    expand_variables,
    literal_secrets,
    references,
)
from pytest_reflex.agents.outcome import MAX_ANSWER, MAX_OUTPUT, ToolOutcome, partial_answer
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.agents.rate_limit import (
    NO_WAIT,
    LimitMark,
    Pause,
    RetryPolicy,
    ask_with_retries,
    wait_or_cancel,
)
from pytest_reflex.agents.stream import (
    DENIED,
    EDITS,
    MAY_EDIT,
    EditWatch,
    RetryWatch,
    denial_message,
)
from pytest_reflex.contracts.validate import plain_schema
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Question, Reply, StepRequest
from pytest_reflex.process.child import FollowedFile
from pytest_reflex.process.environment import redact, redact_ends, secrets
from pytest_reflex.process.guard import temporary_folder
from pytest_reflex.process.run import Finished, run

STEP = "PYTEST_REFLEX_STEP"
RUN_DIR = "PYTEST_REFLEX_RUN_DIR"
# How the tool ended where it did not end well, in the details of an answer.
END = "end"
PARTIAL = "partial"  # in the details: the unfinished answer, where that is not output
LEFT = "left"  # in the details: it left processes running, which were killed
NOT_STARTED, TIMED_OUT, STOPPED, BAD_EXIT = "not started", "timed out", "stopped", "exit"
MAX_ARGUMENT = 128 * 1024 - 1  # bytes; the kernel counts the closing NUL
_TAIL = 256_000

PLACE_NAMES = ("prompt", "prompt_file", "answer_file", "model", "schema", "schema_file")
PLACES = re.compile(rf"\{{({'|'.join(PLACE_NAMES)})\}}")
OPTIONS = "{options}"  # an item of the command: there stand the options of the mode


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """A tool and how to talk to it.

    `command` may hold `{prompt}`, `{prompt_file}`, `{answer_file}`, `{model}` and `$NAME`, and as
    an item of its own `{options}`: there stand `edit_options` where the tool may change files,
    else `answer_options`, and behind them `schema_options` with `{schema}` or `{schema_file}` where
    the answer keeps one. Without `can_edit` it has no way to change any file. `denied` marks what
    it was not allowed to do. `prompt` is stdin, argument or file, and `note` stands behind it.
    `failures` are places whose value, where it is true, means that the tool failed; `success` are
    the exit statuses that do not, `exits` what others mean; `limits` mark a rate limit, which
    `rate_limit` waits for; `retrying` shows in a stream that it tries again itself. `timeout` and
    `grace` are seconds, `timeout_of` says who set the former, if not the agent's own table;
    `env` names what the tool gets of our environment beside the safe set.
    """

    name: str
    command: tuple[str, ...]
    answer_options: tuple[str, ...] = ()
    edit_options: tuple[str, ...] = ()
    schema_options: tuple[str, ...] = ()
    can_edit: bool = True
    prompt: str = "stdin"
    answer: OutputSource = STDOUT
    cost: tuple[OutputSource, ...] = ()
    tokens: tuple[OutputSource, ...] = ()
    failures: tuple[OutputSource, ...] = ()
    success: tuple[int, ...] = (0,)
    exits: Mapping[int, str] = field(default_factory=dict)
    limits: tuple[LimitMark, ...] = ()
    denied: tuple[LimitMark, ...] = ()
    retry_after: tuple[OutputSource, ...] = ()
    retrying: tuple[LimitMark, ...] = ()
    retry_reason: tuple[OutputSource, ...] = ()
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    pause: Pause = wait_or_cancel
    note: str = ""
    model: str | None = None
    timeout: float = 600.0
    timeout_of: str = ""
    grace: float = 5.0
    env: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All that may stand in the command, whatever the mode."""
        return (*self.command, *self.answer_options, *self.edit_options, *self.schema_options)

    def command_for(self, *, may_edit: bool, contract: str = "") -> tuple[str, ...]:
        """Return the command of a mode, for an answer that keeps a contract or for any."""
        options = self.edit_options if may_edit and self.can_edit else self.answer_options
        if contract:
            options = (*options, *self.schema_options)
        return tuple(
            word for item in self.command for word in (options if item == OPTIONS else (item,))
        )

    def missing_program(self) -> str:
        """Return the program of the command where it is not installed, else an empty string."""
        program = self.command[0]
        if "$" in program or "{" in program:
            return ""
        return "" if shutil.which(program) else program

    def unset_variable(self) -> str:
        """Return the first variable of the command that is not set, else an empty string."""
        named = (name for item in self.words for name in references(item))
        return next((name for name in named if name not in os.environ), "")

    def respond(self, request: StepRequest) -> Reply:
        """Run the tool for a step, again where a rate limit was in the way."""
        return self.ask(
            Question(
                prompt=prompt_for(request),
                environment=step_environment(request),
                verbatim=request.step in (Step.PRODUCE, Step.REFINE),
                may_edit=request.files is not None,
                contract=contract_of(request),
                seconds_left=request.seconds_left,
                cancel=request.cancel,
                tell=request.tell,
                keep_partial=request.keep_partial,
            )
        )

    def ask(self, question: Question) -> Reply:
        """Run the tool with a prompt, again where a rate limit was in the way."""
        return ask_with_retries(self._ask, question, self.retry, self.pause)

    def _ask(self, question: Question) -> Reply:
        """Run the tool once."""
        ours = dict(os.environ)
        referred = [name for item in self.words for name in references(item)]
        hidden = {**literal_secrets(self.words), **secrets(ours, ours, referred)}

        def redact_text(text: str) -> str:
            return redact_ends(redact(text, hidden), hidden)

        try:
            with temporary_folder("reflex-") as folder:
                answer = folder / "answer" if self.answer.kind == "file" else None

                def keep(stdout: bytes) -> None:
                    question.keep_partial(redact_text(partial_answer(answer, stdout)))

                def tell(text: str) -> None:
                    question.tell(f"{self.name}: {redact_text(text)}")

                retries = RetryWatch(self.retrying, self.retry_reason, tell)
                edits = EditWatch(retries)
                finished = self._run(question, folder, ours, keep, edits)
                if finished.cancelled:  # the driver may have left: the reply is lost then
                    keep(finished.stdout)
                outcome = ToolOutcome.of(
                    finished,
                    self,
                    folder / "answer",
                    redact_text,
                    retries=retries,
                    verbatim=question.verbatim,
                )
        except (ReflexError, OSError) as error:
            details = {END: NOT_STARTED}
            return Reply(text="", agent=self.name, error=redact_text(str(error)), details=details)
        command = self.command_for(may_edit=question.may_edit, contract=question.contract)
        denied = denial_message(self.name, outcome.denied, may_edit=question.may_edit)
        if denied:
            question.tell(denied)
        return Reply(
            text=outcome.text,
            agent=self.name,
            error=outcome.error,
            seconds=finished.seconds,
            usd=outcome.usd,
            tokens=outcome.tokens,
            details={
                "argv": [redact_text(item) for item in command],
                "exit": finished.returncode,
                "stderr": outcome.stderr,
                **_end(finished, self.success),
                **_limit(outcome),
                **({DENIED: denied, MAY_EDIT: question.may_edit} if denied else {}),
                **({"silent": True} if outcome.silent else {}),
                **({PARTIAL: outcome.partial} if outcome.partial else {}),
                **({LEFT: True} if finished.left_children else {}),
                **({} if edits.edits is None else {EDITS: edits.edits}),
            },
        )

    def add_note(self, prompt: str, answer_file: str) -> str:
        """Return a prompt as this tool is given it: with the note behind it."""
        note = self.note.replace("{answer_file}", answer_file)
        return prompt + (f"\n{note}\n" if note else "")

    def _run(
        self,
        question: Question,
        folder: Path,
        ours: Mapping[str, str],
        keep_partial: Callable[[bytes], object],
        follow: Callable[[bytes], object],
    ) -> Finished:
        prompt = self.add_note(question.prompt, str(folder / "answer"))
        try:
            data = prompt.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"the prompt is not valid text: {error.reason}") from None
        if self.prompt == "argument":
            _check_argument(data)
        elif self.prompt == "file":
            (folder / "prompt.md").write_bytes(data)
        schema = json.dumps(plain_schema(question.contract)) if question.contract else ""
        if "{schema_file}" in self.schema_options and schema:
            (folder / "schema.json").write_text(schema, encoding="utf-8")
        places = {
            "prompt": prompt,
            "schema": schema,
            "schema_file": str(folder / "schema.json"),
            "prompt_file": str(folder / "prompt.md"),
            "answer_file": str(folder / "answer"),
            "model": self.model or "",
        }
        command = self.command_for(may_edit=question.may_edit, contract=question.contract)
        argv = [_fill_item(item, places, ours) for item in command]
        with FollowedFile(folder / "stdout", MAX_OUTPUT, follow) as stdout:
            return run(
                argv,
                cwd=os.getcwd(),
                env={**child_environment(ours, self.env), **question.environment},
                stdin=data if self.prompt == "stdin" else None,
                timeout=self.timeout,
                grace=self.grace,
                head=MAX_ANSWER,
                tail=_TAIL,
                hard_cap=MAX_OUTPUT,
                cancel=question.cancel,
                keep_partial=keep_partial,
                stdout_file=stdout,
            )


def _end(finished: Finished, success: tuple[int, ...]) -> dict[str, str]:
    """Return what the details of an answer say of an end that was not a good one."""
    if finished.timed_out:
        return {END: TIMED_OUT}
    if finished.stopped:
        return {END: STOPPED}
    return {} if finished.returncode in success else {END: BAD_EXIT}


def _limit(outcome: ToolOutcome) -> dict[str, Any]:
    """Return what the details of an answer say of a limit."""
    if not outcome.limited:
        return {}
    found: dict[str, Any] = {"limited": True}
    if outcome.retry_after is not None:
        found["retry_after"] = outcome.retry_after
    if outcome.no_wait:
        found[NO_WAIT] = True
    return found


# Of PREPARE's answer the schema is too rich for the option of a client.
_CONTRACTS = {Step.PLAN: "plan", Step.CRITIQUE: "critique"}


def contract_of(request: StepRequest) -> str:
    """Return the name of the schema that a client is given for a step, empty for none."""
    return _CONTRACTS.get(request.step, "")


def step_environment(request: StepRequest) -> dict[str, str]:
    """Return the step and the run's folder: by it a resume finds processes left running."""
    variables = {STEP: request.step.value}
    folder = os.path.dirname(request.artifact_path)
    in_a_run = request.run_id.startswith(f"{os.path.basename(folder)}-")
    return variables | {RUN_DIR: folder} if in_a_run else variables


def _fill_item(item: str, places: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return an item of the command as it is run; what is filled in is not looked at again."""
    parts = PLACES.split(item)
    parts[::2] = [expand_variables(text, ours) for text in parts[::2]]
    parts[1::2] = [places[name] for name in parts[1::2]]
    return "".join(parts)


def _check_argument(data: bytes) -> None:
    if b"\0" in data:
        raise UsageError(
            "the prompt holds a NUL and cannot be an argument", hint='prompt = "stdin" takes it'
        )
    if len(data) > MAX_ARGUMENT:
        raise UsageError(
            f"the prompt has {len(data):,} bytes; an argument holds at most {MAX_ARGUMENT:,}",
            hint='prompt = "stdin" or "file" has no such limit',
        )


def partial_output(reply: Reply) -> str:
    """Return what a tool wrote that was stopped, killed or failed; empty where nothing is lost.

    The notice of a limit is not work.
    """
    details = reply.details
    if details.get(END) not in (TIMED_OUT, STOPPED, BAD_EXIT):
        return ""
    if details.get("limited"):
        return ""
    text = str(details.get(PARTIAL) or reply.text)
    return text if text.strip() else ""


def was_killed(reply: Reply) -> bool:
    """Return whether a tool was ended from outside: by us, or by a signal."""
    code = reply.details.get("exit")
    by_signal = isinstance(code, int) and code < 0
    return by_signal or reply.details.get(END) in (TIMED_OUT, STOPPED)
