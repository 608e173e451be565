"""``evaluate --watch``: evaluates again when a file is saved, and shows what changed.

Promises: what is returned has stood still for `SETTLE` seconds and two looks; where a file is gone
or empty that was not before, for `DOUBTFUL_LOOKS` looks: an editor may be about to put it back.
Limits: a save that takes longer than that is seen twice.

Promises: a verdict is shown of files that stood still while they were evaluated; what cannot
be evaluated is reported and waited out. It ends by a signal only. What is not there at the start is
for the caller to refuse: a mistyped name would be waited for without an end.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol

import click

from pytest_reflex.checks.reading import Signature, files_below, signature
from pytest_reflex.cli.runs import draw
from pytest_reflex.cli.streams import flush, give, say, wrap_width
from pytest_reflex.errors import ArtifactError, ReflexError
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.results import Evaluation
from pytest_reflex.reports.json_report import report_document
from pytest_reflex.reports.lines import lines_of, plain, wrap_lines

IDLE = 0.25
SETTLE = 0.1
DOUBTFUL_LOOKS = 10
_SHARE = 25  # of the time, one part at most is spent on looking

Stamps = Mapping[Path, Signature]
Look = Callable[[], Stamps]


def look(paths: Iterable[Path], *, outside: bool = False) -> Stamps:
    """Return the stamps of files, and of all files in folders; those of a missing file say so.

    With `outside`, also of files to which links in a folder lead.
    """
    found: dict[Path, Signature] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            with suppress(ArtifactError):  # it changes at this moment, or cannot be read at all
                files = files_below(path, path.name, outside=outside)
        found |= {file: signature(file) for file in files}
    return found


def next_save(before: Stamps, look: Look, pause: Callable[[float], object] = time.sleep) -> Stamps:
    """Return the stamps once they differ from `before` and stand still; waits without an end."""
    while True:
        started = time.perf_counter()
        now = look()
        if now == before:
            pause(max(IDLE, _SHARE * (time.perf_counter() - started)))
            continue
        quiet = 0
        while quiet < (DOUBTFUL_LOOKS if _is_doubtful(before, now) else 1):
            pause(SETTLE)
            again = look()
            quiet = quiet + 1 if again == now else 0
            now = again
        if now != before:
            return now


def _is_doubtful(before: Stamps, now: Stamps) -> bool:
    """Return whether a file that had a text has none now."""
    return any(
        size > 0 and now.get(path, _GONE)[2] <= 0 for path, (_, _, size, _) in before.items()
    )


_GONE: Signature = (0, 0, -1, 0)


LABEL = "CHANGED     "


def format_changes(before: Iterable[Evaluation], after: Iterable[Evaluation]) -> str:
    """Return the line for people; a new rule that fails counts as regressed."""
    old, new = dict(_rules(before)), dict(_rules(after))
    fixed = [name for name, passed in new.items() if passed and old.get(name) is False]
    regressed = [
        name for name, passed in new.items() if passed is False and old.get(name) is not False
    ]
    pairs = (("fixed", fixed), ("regressed", regressed))
    parts = [f"{word} {', '.join(n)}" for word, n in pairs if n]
    return escape_control(LABEL + ("; ".join(parts) or "no rule"))


def _rules(evaluations: Iterable[Evaluation]) -> Iterator[tuple[str, bool | None]]:
    """Yield each rule with whether it passed, by artifact where there are several.

    Of a rule that is not applicable that is None.
    """
    found = list(evaluations)
    for one in found:
        where = f" ({one.artifact})" if len(found) > 1 else ""
        for row in one.results:
            yield f"{row.rule.id}{where}", row.passed if row.applicable else None


MOST_TRIES = 3
"""How often an artifact that changes meanwhile is evaluated; a check that changes it does so every
time.
"""
_WAITING = "Waiting for a save; Ctrl-C ends."


class SaveJob(Protocol):
    """What is done at each save: `run` raises ReflexError; `sources` are the files of the rules.

    `outside` is True where links in folders are followed.
    """

    @property
    def artifacts(self) -> Sequence[Path]: ...

    @property
    def sources(self) -> Sequence[Path]: ...

    @property
    def outside(self) -> bool: ...

    def run(self) -> list[Evaluation]: ...


class OnSave:
    """Shows every verdict by `render`, with what it changed; as JSON, one document a line."""

    def __init__(
        self, judging: SaveJob, render: Callable[[list[Evaluation]], str], *, as_json: bool
    ) -> None:
        self._judging, self._render, self._as_json = judging, render, as_json
        self._before: list[Evaluation] | None = None
        self._places: tuple[Path, ...] = ()
        self._again = False

    def follow(self) -> NoReturn:
        """Evaluate, show, and wait for the next save, until a signal ends it."""
        tries = 0
        while True:
            before = self._look()()
            outcome = self._evaluate()
            tries += 1
            now = self._look()()
            if tries < MOST_TRIES and any(now.get(p) != stamp for p, stamp in before.items()):
                next_save(before, self._look())
                continue
            tries = 0
            self._show(outcome)
            next_save(now, self._look())

    def _look(self) -> Look:
        return partial(look, self._watched_paths(), outside=self._judging.outside)

    def _watched_paths(self) -> list[Path]:
        sources = (*self._judging.sources, *self._places)
        return list(dict.fromkeys((*self._judging.artifacts, *sources)))

    def _evaluate(self) -> list[Evaluation] | ReflexError:
        """Return the verdicts, or the problem; files that a problem points to are watched too."""
        try:
            found = self._judging.run()
        except ReflexError as error:
            named = (Path(p.place.path) for p in error.problems if p.place)
            self._places = tuple(path for path in named if path.is_file())
            return error
        self._places = ()
        return found

    def _show(self, outcome: list[Evaluation] | ReflexError) -> None:
        if isinstance(outcome, ReflexError):
            self._show_fault(outcome)
        elif self._as_json:
            give(_on_one_line(json.loads(self._render(outcome))))
        else:
            text = self._render(outcome).rstrip("\n")
            if self._before is not None:
                line = lines_of(format_changes(self._before, outcome))
                changed = plain(wrap_lines(line, wrap_width(), indent=len(LABEL)))
                text += f"\n{changed}"
            draw(text + self._waiting_text(), again=self._again)
        if not isinstance(outcome, ReflexError):
            self._before = outcome
        self._again = True

    def _show_fault(self, error: ReflexError) -> None:
        if self._as_json:
            document = report_document((), problems=error.problems, exit_status=error.exit_code)
            give(_on_one_line(document))
        elif sys.stdout.isatty():
            click.clear()
            flush()  # the fault goes to stderr, and click 8.1 leaves the order open
        _report_errors(str(problem) for problem in error.problems)
        if waiting := self._waiting_text():
            give(waiting.lstrip("\n"))

    def _waiting_text(self) -> str:
        return f"\n\n{_WAITING}" if sys.stdout.isatty() and not self._as_json else ""


def _on_one_line(document: dict[str, Any]) -> str:
    return json.dumps(document)


def _report_errors(faults: Iterable[str]) -> None:
    for fault in faults:
        say(f"pytest-reflex: {escape_control(fault)}")
